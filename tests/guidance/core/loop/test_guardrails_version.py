"""What the guardrails decide changes only together with the version stored beside it."""

from __future__ import annotations

from itertools import combinations, product

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.guardrails import GUARDRAILS_VERSION, judge_proposal
from guidance.core.loop.proposals import Proposal
from tests.guidance.core.loop.test_guardrails import BAD, MET, REPAIR, SECTION

# The version, and a digest over what becomes of the proposals below, which do not change.
JUDGED = (
    2,
    "sha256:b8c64112bbd4d7a2fbaf2f456b268ed1651f6a54b4c465b43638a11faa19003c",
)

ALERT = {"condition": "disk", "status": "firing", "title": "Full"}
PROPOSALS = [
    *(None, REPAIR, *BAD.values()),
    Proposal(action="process_notes", reasoning="so"),
    Proposal(action="emit_alert", parameters=ALERT, reasoning="so"),
    Proposal(action="do_nothing", reasoning="so"),
]
FACTS = [
    *(GuardrailFacts(**facts) for facts, _ in MET.values()),
    *(
        GuardrailFacts(**one[0] | other[0])
        for one, other in combinations(MET.values(), 2)
    ),
    *(GuardrailFacts(), GuardrailFacts(trouble="no answer")),
    GuardrailFacts(claimable=("a",)),
    GuardrailFacts(asks_model=True, priced=False),
]


def test_other_outcomes_take_the_next_version() -> None:
    found = [
        judge_proposal(SECTION, proposal, facts).to_json()
        for proposal, facts in product(PROPOSALS, FACTS)
    ]

    assert (GUARDRAILS_VERSION, hash_text(to_canonical_json(found))) == JUDGED, (
        "The guardrails decide something else than they did, or in other words. Replay "
        "judges again what has the same version: raise GUARDRAILS_VERSION, then write "
        "both here."
    )
