"""How severe a review is, by what opened it: the one place that decides it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guidance.core.reviews.section import SeverityRules
from guidance.core.shell_commands.rules.rule import GUARD, SEVERITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A rule or a gate that asked; `severity` is its own one, if it has any."""

    gate: str
    rule: str = ""
    severity: str | None = None


def decide_severity(
    rules: SeverityRules, *, kind: str, reasons: Iterable[Reason] = ()
) -> str:
    """That of the worst reason; without any, that of the kind."""
    usual: str = getattr(rules.kinds, kind, "medium")
    found = [_decide_reason(rules, each, usual=usual) for each in reasons]
    return choose_worst(found) if found else usual


def raise_severity(rules: SeverityRules, decided: str, *, asked: str | None) -> str:
    """Raise it to what an agent asks for, up to what the policy lets agents ask."""
    if asked is None:
        return decided
    ranks = (rank_severity(asked), rank_severity(rules.asked_at_most))
    return choose_worst([decided, SEVERITIES[max(ranks)]])


def choose_worst(severities: Iterable[str]) -> str:
    """A word that is no severity counts as the least."""
    ranks = [rank_severity(each) for each in severities]
    return SEVERITIES[min(ranks, default=SEVERITIES.index("medium"))]


def rank_severity(severity: str) -> int:
    """Critical is 0."""
    known = severity in SEVERITIES
    return SEVERITIES.index(severity) if known else len(SEVERITIES) - 1


def _decide_reason(rules: SeverityRules, reason: Reason, *, usual: str) -> str:
    own = reason.severity or usual
    said = _find_named(rules.rules, reason.rule) if reason.rule else None
    said = said or _find_named(rules.gates, reason.gate) or own
    # What touches the guard is never made less severe.
    return choose_worst((said, own)) if reason.gate == GUARD else said


def _find_named(named: Mapping[str, str], name: str) -> str | None:
    """By the whole name, else by the longest beginning with a star."""
    if name in named:
        return named[name]
    stars = [each for each in named if each.endswith("*")]
    fitting = [each for each in stars if name.startswith(each[:-1])]
    return named[max(fitting, key=len)] if fitting else None
