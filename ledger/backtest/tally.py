"""Count what a backtest found: how many decisions change, by gate, rule and move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ledger.backtest.judges import BothJudgements, JudgedAgain, Unknown


class Cause(NamedTuple):
    """The gate that makes the difference, and its rule where it has one."""

    gate: str
    rule: str


def find_cause(item: JudgedAgain) -> Cause:
    """The first finding that leads to the stricter of the two decisions."""
    assert isinstance(item.outcome, BothJudgements)
    before, after = item.outcome
    stricter = item.kind.is_stricter(before["decision"], after["decision"])
    judgement = after if stricter else before
    decision = judgement["decision"]
    finding: Mapping[str, Any] = next(
        (each for each in judgement["findings"] if each["decision"] == decision), {}
    )
    rule = finding.get("details", {}).get("rule") or ""
    return Cause(finding.get("gate", item.kind.name), str(rule))


def name_move(before: str, after: str) -> str:
    return f"{before}→{after}"


def list_gate_findings(judgement: Any) -> list[tuple[str, str]]:
    return sorted((each["gate"], each["decision"]) for each in judgement["findings"])


@dataclass(slots=True)
class Tally:
    """`other_reasons` come to the same decision by other gates. `decisions` counts all
    that was judged, by kind and then by move, the unchanged ones too."""

    judged: int = 0
    changed: int = 0
    other_reasons: int = 0
    runs_changed: int = 0
    would_have_asked: int = 0
    would_not_have_asked: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    by_gate: Counter[str] = field(default_factory=Counter)
    by_rule: dict[Cause, list[int]] = field(default_factory=dict)
    moves: Counter[str] = field(default_factory=Counter)
    decisions: dict[str, Counter[str]] = field(default_factory=dict)
    _last_run: int | None = None

    def add(self, item: JudgedAgain) -> bool:
        """Whether the decision changes."""
        if isinstance(item.outcome, Unknown):
            self.unknown[item.outcome.reason] += 1
            return False
        before, after = item.outcome
        move = name_move(before["decision"], after["decision"])
        self.judged += 1
        self.decisions.setdefault(item.kind.name, Counter())[move] += 1
        if before["decision"] == after["decision"]:
            same = before is after or (
                list_gate_findings(before) == list_gate_findings(after)
            )
            self.other_reasons += not same
            return False
        self._add_change(item, move)
        return True

    def _add_change(self, item: JudgedAgain, move: str) -> None:
        assert isinstance(item.outcome, BothJudgements)
        before, after = (each["decision"] for each in item.outcome)
        self.changed += 1
        self.moves[move] += 1
        if item.run_id != self._last_run:
            self.runs_changed += 1
            self._last_run = item.run_id
        asked, asks = before in item.kind.asking, after in item.kind.asking
        self.would_have_asked += asks and not asked
        self.would_not_have_asked += asked and not asks
        cause = find_cause(item)
        self.by_gate[cause.gate] += 1
        counts = self.by_rule.setdefault(cause, [0, 0])
        counts[item.kind.is_stricter(before, after)] += 1

    def to_json(self) -> dict[str, Any]:
        ranked = sorted(self.by_rule.items(), key=lambda each: (-sum(each[1]), each[0]))
        return {
            "judged": self.judged,
            "changed": self.changed,
            "unknown": self.unknown.total(),
            "unknown_reasons": dict(self.unknown.most_common()),
            "other_reasons": self.other_reasons,
            "runs_changed": self.runs_changed,
            "by_gate": dict(self.by_gate.most_common()),
            "by_rule": [
                {
                    "gate": cause.gate,
                    "rule": cause.rule or None,
                    "softer": softer,
                    "stricter": stricter,
                }
                for cause, (softer, stricter) in ranked
            ],
            "moves": dict(self.moves.most_common()),
            "decisions": {
                kind: dict(moves.most_common())
                for kind, moves in sorted(self.decisions.items())
            },
            "would_have_asked": self.would_have_asked,
            "would_not_have_asked": self.would_not_have_asked,
        }
