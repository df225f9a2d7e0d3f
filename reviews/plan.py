"""A change in the making: commands write down entries, the state follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model

from common.errors import DomainError
from common.ids import uuid7
from guidance.core.canonical import canonical, digest
from guidance.core.policy import ReviewRules
from guidance.selectors import policy_by_id
from ledger.chain import timestamp
from ledger.entry_types import apply_entry
from ledger.state import OpenReview, RunState
from ledger.writer import Change, Draft, SealedEntry, nothing
from ledger.writer.sql import Statement
from reviews.closed_hooks import follow_up
from reviews.models import Grant, GrantState, Review, ReviewState

T = TypeVar("T")
CLOCK = "system:clock"


class Plan:
    """Collects drafts and rows for one run; `run` is always the state they lead to."""

    def __init__(self, run: RunState, at: datetime) -> None:
        self.run = run
        self.at = at
        self.drafts: list[Draft] = []
        self.rows: list[Model] = []
        self.statements: list[Statement] = []
        self.effects: list[Callable[[], object]] = []
        self.wakes = False
        self.told: object = None

    def note(self, entry_type: str, *, actor: str, payload: dict[str, Any]) -> None:
        self.drafts.append(Draft(type=entry_type, actor=actor, payload=payload))
        self.run = apply_entry(self.run, entry_type, payload, self.at)

    @property
    def next_seq(self) -> int:
        """Where the next entry will stand in the run's chain."""
        return self.run.head_seq + len(self.drafts) + 1

    def open_review(
        self,
        *,
        kind: str,
        title: str,
        content: dict[str, Any],
        actor: str,
        step: int | None = None,
        rules: ReviewRules | None = None,
    ) -> str:
        """Put the run before a person; returns the new review's code."""
        code = str(uuid7())
        rules = rules or policy_by_id(self.run.policy_id).policy.reviews
        due_at = self.at + timedelta(seconds=rules.expires_after_s)
        text = canonical(content)
        title = title[:300]
        self.note(
            "review.opened",
            actor=actor,
            payload={
                "review": code,
                "kind": kind,
                "title": title,
                "version": 1,
                "content_digest": digest(text),
                "due_at": timestamp(due_at),
                "on_expiry": rules.on_expiry,
                "step": step,
            },
        )
        self.rows.append(
            Review(
                code=code,
                project_id=self.run.project_id,
                run_id=self.run.id,
                kind=kind,
                title=title,
                content=text,
                content_digest=digest(text),
                step_number=step,
                opened_at=self.at,
                due_at=due_at,
                on_expiry=rules.on_expiry,
            )
        )
        return code

    def end_review(self, review: OpenReview, state: ReviewState) -> None:
        """The row's side of a review's end; the entry is noted by the caller."""
        self.wakes = True
        values = [state.value, review.version + 1, self.at, UUID(review.code)]
        self.statements.append(Statement(_CLOSE, values))

    def close_run(self, entry_type: str, *, actor: str, reason: str) -> None:
        """A fence: what waits is superseded in the same transaction."""
        for review in self.run.open_reviews:
            self.note("review.superseded", actor=actor, payload={"review": review.code})
            self.end_review(review, ReviewState.SUPERSEDED)
            follow_up(self, review, ending="superseded", actor=actor)
        self.note(entry_type, actor=actor, payload={"reason": reason})
        self.revoke_grants()
        self.wakes = True

    def revoke_grants(self) -> None:
        """The run is closed: what may still have been run may not any more."""
        unspent = Grant.objects.filter(run_id=self.run.id, state=GrantState.ISSUED)
        self.effects.append(
            partial(unspent.update, state=GrantState.REVOKED, ended_at=self.at)
        )

    def refuse(self, refusal: DomainError) -> Change[Any]:
        """Store what is planned, then tell the caller no."""
        return replace(self.change(nothing), refusal=refusal)

    def change(self, answer: Callable[[Sequence[SealedEntry]], T]) -> Change[T]:
        return Change(
            state=self.run,
            drafts=self.drafts,
            answer=answer,
            rows=self.rows,
            statements=self.statements,
            effects=self.effects,
            wakes=self.wakes,
            told=self.told,
        )


_CLOSE = (
    "UPDATE reviews_review SET state = %s, version = %s, closed_at = %s "
    "WHERE code = %s AND state = 'open'"
)
