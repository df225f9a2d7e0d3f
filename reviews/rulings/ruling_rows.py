"""A ruling before it is stored, and its rows: given as values, as an agent waits for them
(bench waking)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from common.ids import uuid7
from ledger.plan import NewRow, Table
from ledger.state import RunState
from reviews.models import Review, Ruling, RulingFact
from reviews.queue.subjects import Subject, build_search_text, measure_ms

_RULINGS = Table(
    Ruling, "code", "review_id", "action", "note", "answer", "amended", "by_id", "at"
)
_FACTS = Table(
    RulingFact,
    *("ruling_id", "project_id", "run_id", "agent_id", "by_id", "at", "action"),
    *("kind", "severity", "rule", "rules", "alike_key", "text", "took_ms", "read_ms"),
    "regretted",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRuling:
    """What a person has chosen; `amended` is the text of what is to run instead."""

    review: Review
    action: str
    note: str
    answer: str | None
    amended: str | None
    by_id: int
    at: datetime
    read_ms: int | None = None
    code: UUID = field(default_factory=uuid7)

    def build_row(self) -> NewRow:
        values = (self.code, self.review.pk, self.action, self.note, self.answer)
        return NewRow(_RULINGS, (*values, self.amended, self.by_id, self.at))

    def build_fact_row(self, run: RunState, subject: Subject) -> NewRow:
        """By which it is listed and counted."""
        review = self.review
        return NewRow(
            _FACTS,
            (
                self.code,
                run.project_id,
                run.id,
                run.agent_id,
                self.by_id,
                self.at,
                self.action,
                review.kind,
                review.severity,
                subject.rule,
                subject.names_text,
                review.alike_key,
                build_search_text(review.title, self.note),
                measure_ms(review.opened_at, self.at),
                self.read_ms,
                False,  # nobody has regretted it yet
            ),
        )
