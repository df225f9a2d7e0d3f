"""What a review is about: the rule that asked, how severe that is, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from guidance.core.plans.judging import list_findings
from guidance.core.reviews.reversibility import (
    REVERSIBILITIES,
    decide_reversibility,
    rank_reversibility,
)
from guidance.core.reviews.section import SeverityRules
from guidance.core.reviews.severity import Reason, decide_severity, rank_severity
from reviews.models import Kind

_BUILT_IN = SeverityRules()
_ASKS = {
    Kind.CONFIRMATION.value: "require-confirmation",
    Kind.PLAN.value: "require-confirmation",
    Kind.PAUSE.value: "pause",
}
_RULE_LIMIT = 200
_NOTE_LIMIT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`rule` asked first; `names` are all rules that asked, and their gates."""

    rule: str
    names: tuple[str, ...]
    severity: str
    reversibility: str

    @property
    def names_text(self) -> str:
        """As they are stored, each between line breaks."""
        return "".join(f"\n{name.replace(chr(10), ' ')}" for name in self.names) + "\n"


def count_urgency(*, severity: str, reversibility: str) -> int:
    """The most urgent first: the most severe, of those what cannot be undone."""
    last = len(REVERSIBILITIES) - 1
    rank = last - rank_reversibility(reversibility)
    return rank_severity(severity) * len(REVERSIBILITIES) + rank


def get_severity_rank(urgency: int) -> int:
    """Critical is 0."""
    return urgency // len(REVERSIBILITIES)


def build_search_text(title: str, note: str) -> str:
    """What a search looks through; a long note no further than its beginning."""
    return f"{title}\n{note[:_NOTE_LIMIT]}".lower()


def measure_ms(opened_at: datetime, ruled_at: datetime) -> int:
    """How long a review waited for its ruling."""
    return max(0, (ruled_at - opened_at) // timedelta(milliseconds=1))


def find_subject(
    kind: str, content: Mapping[str, Any], rules: SeverityRules = _BUILT_IN
) -> Subject:
    """Of a review's kind and content, as it was put before people.

    A content that has not the form of today says no more than its kind: no ruling and no
    upgrade fails for that.
    """
    try:
        reasons = _list_reasons(kind, content)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        reasons = []
    named = [each.rule[:_RULE_LIMIT] for each in reasons] or [kind]
    gates = [each.gate[:_RULE_LIMIT] for each in reasons]
    return Subject(
        rule=named[0],
        names=tuple(dict.fromkeys([*named, *gates])),
        severity=decide_severity(rules, kind=kind, reasons=reasons),
        reversibility=decide_reversibility(kind=kind, reasons=reasons),
    )


def _list_reasons(kind: str, content: Mapping[str, Any]) -> list[Reason]:
    """What asked, in the order in which it is named."""
    if kind == Kind.CONFIRMATION:
        return _list_asking(kind, content["findings"])
    if kind == Kind.PAUSE:
        return _list_asking(kind, content["decision"]["findings"])
    if kind == Kind.PLAN:
        asking = _list_asking(kind, list_findings(content))
        return sorted(asking, key=lambda each: rank_severity(each.severity or ""))
    if kind == Kind.EXHAUSTED:
        gates = [_read_gate(gate) for gate in content["gates"]]
        return sorted(gates, key=lambda each: rank_severity(each.severity or ""))
    return []


def _list_asking(kind: str, findings: Iterable[Mapping[str, Any]]) -> list[Reason]:
    return [
        Reason(
            gate=str(each["gate"]),
            rule=str(each.get("details", {}).get("rule") or each["gate"]),
            severity=each.get("details", {}).get("severity"),
        )
        for each in findings
        if each["decision"] == _ASKS[kind]
    ]


def _read_gate(gate: Mapping[str, Any]) -> Reason:
    name = str(gate["id"])
    return Reason(gate=name, rule=name, severity=str(gate["severity"]))
