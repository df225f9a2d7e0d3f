"""Guardrails: each one stops its action, and all that are met are recorded."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from guidance.core.loop.alerts import Standing
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.guardrails import judge_proposal
from guidance.core.loop.proposals import ANSWER_SCHEMA, Proposal, read_answer
from guidance.core.loop.vocabulary import ACTIONS, OUTCOMES
from tests.guidance.core.loop.builders import section
from tests.support.rows import each_row

SECTION = section(
    kinds=[
        {
            "name": "repair",
            "parameters": {"type": "object", "required": ["about"]},
            "destructive": [{"parameter": "about", "pattern": "(?i)prod"}],
        }
    ],
    caps_per_hour={"start_loop": 2},
    decider="llm",
)
REPAIR = Proposal(
    action="start_loop", kind="repair", parameters={"about": "x"}, reasoning="so"
)


def test_a_sound_wish_that_meets_no_rail_is_emitted() -> None:
    ruled = judge_proposal(SECTION, REPAIR, GuardrailFacts())
    assert (ruled.action, ruled.outcome, ruled.guardrails) == (
        *("start_loop", "emitted", ()),
    )


# Each guardrail with facts that meet it, the outcome, in the order in which they decide.
MET: dict[str, tuple[dict[str, Any], str]] = {
    "halted": ({"halted": "halted by alice: Look"}, "noop"),
    "switch": ({"paused": "paused by alice"}, "noop"),
    "budget": ({"asks_model": True, "spent_micros": 1_000_000}, "budget_denied"),
    "stale": ({"stale": ("active_runs",)}, "invalid_decision"),
    "dedupe": ({"twin": "01900000"}, "deduplicated"),
    "cascade": ({"cascade": 3}, "rate_limited"),
    "cap": ({"used_this_hour": 2}, "rate_limited"),
}


@each_row("count", range(1, len(MET) + 1))
def test_every_rail_that_is_met_is_told_and_the_first_decides(count: int) -> None:
    for names in combinations(MET, count):
        facts = GuardrailFacts(**{k: v for n in names for k, v in MET[n][0].items()})
        ruled = judge_proposal(SECTION, REPAIR, facts)
        assert tuple(rail.rail for rail in ruled.guardrails) == names
        assert ruled.outcome == MET[names[0]][1]
        assert ruled.guardrails[0].message in ruled.reasoning
        held = {"halted", "switch"} & {*names}
        assert ruled.action == ("do_nothing" if held else "start_loop")
        assert GuardrailFacts.from_json(facts.to_json()) == facts


@each_row(
    ("facts", "outcome"),
    [
        (GuardrailFacts(used_this_hour=1, cascade=2), "emitted"),
        (GuardrailFacts(asks_model=True, spent_micros=999_999), "emitted"),
        (
            GuardrailFacts(asks_model=True, spent_micros=9, cost_micros=999_991),
            "emitted",
        ),
        (
            GuardrailFacts(asks_model=True, spent_micros=9, cost_micros=999_992),
            "budget_denied",
        ),
        (GuardrailFacts(asks_model=True, priced=False), "budget_denied"),
        (GuardrailFacts(spent_micros=10**9), "emitted"),
    ],
)
def test_limits_hold_exactly(facts: GuardrailFacts, outcome: str) -> None:
    assert judge_proposal(SECTION, REPAIR, facts).outcome == outcome


def test_an_unlimited_budget_needs_no_prices() -> None:
    free = replace(SECTION, cost_per_day_micros=None)
    facts = GuardrailFacts(asks_model=True, priced=False, spent_micros=10**12)
    assert judge_proposal(free, REPAIR, facts).outcome == "emitted"


def test_a_destructive_wish_waits_and_says_why() -> None:
    harmful = replace(REPAIR, parameters={"about": {"where": ["the PROD host"]}})
    ruled = judge_proposal(SECTION, harmful, GuardrailFacts())
    assert ruled.outcome == "approval_required"
    assert ruled.harm == "about.where matches (?i)prod"
    assert [rail.rail for rail in ruled.guardrails] == ["approval"]


BAD: dict[str, Proposal] = {
    "unknown action": Proposal(action="drop_tables", reasoning="so"),
    "no reason": replace(REPAIR, reasoning=" "),
    "unknown kind": replace(REPAIR, kind="other"),
    "no kind": replace(REPAIR, kind=None),
    "wrong parameters": replace(REPAIR, parameters={}),
    "too long": replace(REPAIR, parameters={"about": "x" * 20_000}),
    "a kind for another": replace(REPAIR, action="process_notes"),
    "parameters for nothing": Proposal(
        action="do_nothing", parameters={"x": 1}, reasoning="so"
    ),
    "IN-08 no title": Proposal(
        action="emit_alert",
        parameters={"condition": "a", "status": "firing"},
        reasoning="so",
    ),
    "IN-08 blank condition": Proposal(
        action="emit_alert",
        parameters={"condition": " a", "status": "firing", "title": "t"},
        reasoning="so",
    ),
    "IN-08 unknown field": Proposal(
        action="emit_alert",
        parameters={"condition": "a", "status": "firing", "title": "t", "x": 1},
        reasoning="so",
    ),
}


@each_row("name", BAD)
def test_what_is_malformed_is_never_emitted(name: str) -> None:
    """HB-03, IN-08."""
    ruled = judge_proposal(SECTION, BAD[name], GuardrailFacts())
    assert (ruled.outcome, ruled.action) == ("invalid_decision", "do_nothing")
    assert ruled.guardrails[0].rail == "decision"
    assert ruled.latched is None


def test_no_wish_at_all_is_never_emitted() -> None:
    ruled = judge_proposal(SECTION, None, GuardrailFacts(trouble="no answer"))
    assert (ruled.outcome, ruled.reasoning) == (
        "invalid_decision",
        "Held back: no answer.",
    )


def test_to_do_nothing_meets_no_rail_but_the_first_two() -> None:
    idle = Proposal(action="do_nothing", reasoning="quiet")
    busy = GuardrailFacts(stale=("half_done",), twin="x", cascade=9, used_this_hour=99)
    assert judge_proposal(SECTION, idle, busy).outcome == "noop"
    paused = judge_proposal(SECTION, idle, replace(busy, paused="paused"))
    assert (paused.outcome, paused.guardrails[0].rail) == ("noop", "switch")


@pytest.mark.parametrize("action", ["process_notes", "apply_retro_recommendation"])
def test_what_was_taken_up_already_is_not_taken_up_again(action: str) -> None:
    wish = Proposal(action=action, reasoning="so")
    assert judge_proposal(SECTION, wish, GuardrailFacts()).outcome == "deduplicated"
    # The same trigger again is fine where there is new work.
    facts = GuardrailFacts(claimable=("a",), twin="x")
    assert judge_proposal(SECTION, wish, facts).outcome == "emitted"


def test_a_repeat_of_an_alert_is_joined_and_told_nobody() -> None:
    parameters = {"condition": "disk", "status": "firing", "title": "Full"}
    wish = Proposal(action="emit_alert", parameters=parameters, reasoning="so")
    standing = Standing(code="a", is_open=True, content=("medium", "Full", ""))
    ruled = judge_proposal(SECTION, wish, GuardrailFacts(standing=standing))
    assert ruled.outcome == "deduplicated"
    assert ruled.latched is not None
    assert ruled.latched.change == "joined"
    paused = GuardrailFacts(standing=standing, paused="paused")
    assert judge_proposal(SECTION, wish, paused).latched is None


def test_a_models_answer_becomes_a_wish_or_a_reason() -> None:
    answer = {
        "action": "start_loop",
        "kind": "repair",
        "parameters": '{"about": "x"}',
        "reasoning": " so\n",
    }
    assert read_answer(answer) == REPAIR
    idle = read_answer({**answer, "kind": "", "parameters": " "})
    assert isinstance(idle, Proposal)
    assert (idle.kind, idle.parameters) == (None, {})
    for broken in ('{"about": ', "[]", '{"a": 1, "a": 2}', "just do it"):
        assert isinstance(read_answer({**answer, "parameters": broken}), str)


def test_the_vocabularies_are_those_of_the_contract() -> None:
    assert (
        *("start_loop", "process_notes", "apply_retro_recommendation"),
        *("emit_alert", "do_nothing"),
    ) == ACTIONS
    assert ANSWER_SCHEMA["properties"]["action"]["enum"] == list(ACTIONS)
    assert set(OUTCOMES) == {
        *("emitted", "noop", "rate_limited", "budget_denied", "approval_required"),
        *("approved_and_emitted", "approval_denied", "deduplicated"),
        "invalid_decision",
    }
