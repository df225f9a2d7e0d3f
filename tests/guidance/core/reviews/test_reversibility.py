"""Whether it can be undone: by the rules that asked, the worst of a chain."""

from __future__ import annotations

import pytest

from guidance.core.reviews import reversibility
from guidance.core.reviews.reversibility import REVERSIBILITIES, decide_reversibility
from guidance.core.reviews.severity import Reason
from guidance.core.shell_commands.rules import RULES


def decide(*names: str) -> str:
    reasons = [Reason(gate=RULES[name].family, rule=name) for name in names]
    return decide_reversibility(kind="confirmation", reasons=reasons)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("credential-key",), "read-only"),
        (("git-branch-delete",), "reversible here"),
        (("git-push-force",), "reversible elsewhere"),
        (("sql-drop",), "irreversible"),
        (("credential-key", "git-push-force"), "reversible elsewhere"),
        (("exfil-secret", "credential-key", "service-stop"), "irreversible"),
    ],
)
def test_the_worst_of_a_chain_counts(names: tuple[str, ...], expected: str) -> None:
    assert decide(*names) == expected


def test_every_rule_and_kind_has_one() -> None:
    assert {decide(name) for name in RULES} == set(REVERSIBILITIES)
    assert set(reversibility._BY_RULE) <= set(RULES)
    own = Reason(gate="patterns", rule="our-own")
    for kind in ("confirmation", "request", "loop_action"):
        assert decide_reversibility(kind=kind, reasons=[own]) == "irreversible"
    assert decide_reversibility(kind="confirmation") == "irreversible"
    assert decide_reversibility(kind="pause") == "reversible here"
