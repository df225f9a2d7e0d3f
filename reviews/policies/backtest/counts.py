"""Count what a draft changes, and build the rows that show it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ledger.backtest.judges import BothJudgements, JudgedAgain, Judgement, Unknown
from ledger.backtest.tally import Tally, find_cause, name_move
from reviews.models import BacktestItem
from reviews.policies.backtest.people import SILENT, Agreement, read_rulings

# Of each judgement so many findings are kept, to be shown side by side.
FINDINGS = 5
_FINDING = ("gate", "decision", "message", "value", "limit")


@dataclass(slots=True)
class Counts:
    """All that a backtest counts."""

    tally: Tally = field(default_factory=Tally)
    agreement: Agreement = field(default_factory=Agreement)

    def add(self, judged: Sequence[JudgedAgain]) -> list[BacktestItem]:
        """Count these, and build the rows of those that change or are unknown."""
        changed = [item for item in judged if self.tally.add(item)]
        rulings = read_rulings(changed) if changed else None
        rows = [
            _build_unknown(item, item.outcome.reason)
            for item in judged
            if isinstance(item.outcome, Unknown)
        ]
        for item in changed:
            assert rulings is not None
            opinion = rulings.find_opinion(item)
            row = _build_item(item)
            row.asks = self.agreement.add(item, opinion)
            row.people, row.ruling = opinion.people, opinion.ruling
            rows.append(row)
        return rows

    def to_json(self) -> dict[str, Any]:
        return {
            **self.tally.to_json(),
            "agrees_with_people": self.agreement.to_json(),
        }


def _build_unknown(item: JudgedAgain, reason: str) -> BacktestItem:
    return BacktestItem(
        run_id=item.run_id,
        seq=item.seq,
        at=item.at,
        kind=item.kind.name,
        step=0,
        subject="",
        gate="",
        move="",
        people=SILENT,
        judgements="[]",
        unknown=reason[:100],
    )


def _build_item(item: JudgedAgain) -> BacktestItem:
    assert isinstance(item.outcome, BothJudgements)
    assert item.subject is not None
    before, after = item.outcome
    cause = find_cause(item)
    return BacktestItem(
        run_id=item.run_id,
        seq=item.seq,
        at=item.at,
        kind=item.kind.name,
        step=item.subject.step,
        subject=item.subject.text,
        gate=cause.gate[:100],
        rule=cause.rule[:100],
        move=name_move(before["decision"], after["decision"]),
        review=UUID(item.review) if item.review else None,
        judgements=json.dumps(
            [shorten_judgement(before), shorten_judgement(after)], ensure_ascii=False
        ),
    )


def shorten_judgement(judgement: Judgement) -> dict[str, Any]:
    """What is shown of a judgement: what decided it comes first."""
    decision = judgement["decision"]
    ranked = sorted(
        judgement["findings"], key=lambda each: each["decision"] != decision
    )
    return {
        "decision": decision,
        "findings": [
            {
                **{name: each.get(name) for name in _FINDING},
                "rule": each.get("details", {}).get("rule"),
            }
            for each in ranked[:FINDINGS]
        ],
    }
