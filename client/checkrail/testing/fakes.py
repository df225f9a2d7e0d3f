"""The fake's runs and reviews: the states of the contract, and who may leave them how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from checkrail.testing.scripts import Scripted
from checkrail.testing.shapes import AT, NO_RULING, POLICY, Json, build_receipt, make_id
from checkrail.testing.shapes import build_budget as budget_shape
from checkrail.testing.shapes import build_problem as problem_shape


class Refusal(Exception):
    """Becomes problem+json."""

    def __init__(self, slug: str, status: int, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = problem_shape(slug, status, detail, **extra)


@dataclass
class FakeReview:
    run: FakeRun
    kind: str
    title: str
    content: Json
    script: Scripted
    opened: float
    id: str = field(default_factory=make_id)
    state: str = "open"
    ruling: Json | None = None
    # What else a ruling does, and what it adds to what is told of it.
    then: Callable[[Scripted], Json] | None = None

    @property
    def url(self) -> str:
        return f"http://checkrail.test/reviews/{self.id}"

    def build_reference(self) -> Json:
        return {"id": self.id, "kind": self.kind, "url": self.url}

    def build_answer(self) -> Json:
        return {
            "id": self.id,
            "run": self.run.id,
            "project": "test",
            "agent": "robo",
            "kind": self.kind,
            "state": self.state,
            "title": self.title,
            "step": self.run.last_step or None,
            "content": self.content,
            "content_digest": "sha256:" + "1" * 64,
            "version": 1,
            "approvals": None,
            "rulings": [],
            "assignee": None,
            "claimed_until": None,
            "snoozed_until": None,
            "snoozed_for": None,
            "opened_at": AT,
            "severity": "medium",
            "reversibility": "irreversible",
            "answer_by": AT,
            "due_at": AT,
            "on_expiry": "abort",
            "closed_at": None if self.state == "open" else AT,
            "ruling": self.ruling,
            "waiting": None,
            "url": self.url,
        }

    def rule(self, now: float) -> None:
        """Do what the script says, if it is time."""
        script = self.script
        if self.state != "open" or now < self.opened + script.after:
            return
        if script.action == "expire":
            self.state = "expired"
            self.run.close("aborted", "Nobody ruled on the review in time.")
            return
        self.state = "ruled"
        self.ruling = {
            **NO_RULING,
            "id": make_id(),
            "action": script.action,
            "note": script.note,
            "answer": script.answer,
            "by": script.by,
            "at": AT,
        }
        if self.then is not None:
            self.ruling.update(self.then(script))
        if script.action == "abort":
            self.run.close("aborted", script.note or "A reviewer aborted the run.")


@dataclass
class FakeRun:
    body: Json
    id: str = field(default_factory=make_id)
    status: str = "running"
    reason: str | None = None
    last_step: int = 0
    seq: int = 1
    steps: dict[int, tuple[Json, Json]] = field(default_factory=dict)
    reviews: list[FakeReview] = field(default_factory=list)
    calls: dict[str, Any] = field(default_factory=dict)
    checks: dict[str, Any] = field(default_factory=dict)
    checkpoints: list[Json] = field(default_factory=list)
    notes: list[Json] = field(default_factory=list)

    def make_receipt(self) -> Json:
        self.seq += 1
        return build_receipt(self.seq)

    @property
    def open_reviews(self) -> list[FakeReview]:
        return [review for review in self.reviews if review.state == "open"]

    def close(self, status: str, reason: str | None = None) -> None:
        self.status, self.reason = status, reason
        for review in self.open_reviews:
            review.state = "superseded"

    def get_status(self) -> str:
        closed = self.status != "running"
        return self.status if closed or not self.open_reviews else "paused"

    def refuse_closed(self) -> None:
        if self.status != "running":
            why = f": {self.reason}" if self.reason else "."
            raise Refusal(
                "run-closed",
                409,
                f"The run is {self.status}{why}",
                run_status=self.status,
            )

    def refuse_unless_running(self, *, calling: bool = False) -> None:
        """Calls go on beside calls that wait for a confirmation, and beside nothing else."""
        self.refuse_closed()
        kinds = {review.kind for review in self.open_reviews}
        if kinds and not (calling and kinds == {"confirmation"}):
            raise Refusal(
                "run-paused",
                409,
                "Wait.",
                review=self.open_reviews[0].build_reference(),
            )

    def build_answer(self) -> Json:
        body = self.body
        closed = self.status != "running"
        return {
            "id": self.id,
            "project": "test",
            "agent": "robo",
            "parent_run": body.get("parent_run"),
            "children": {"running": 0, "total": 0},
            "task": body["task"],
            "intent": body.get("intent", "general"),
            "model": body.get("model") or None,
            "labels": body.get("labels", {}),
            "status": self.get_status(),
            "status_reason": self.reason,
            "evaluations": [],
            "accepted": None,
            "policy": POLICY,
            "budget": budget_shape(body.get("budget", {})),
            "steps": self.last_step,
            "rework_steps": 0,
            "last_step": self.last_step,
            "last_checkpoint_step": max(
                (c["step"] for c in self.checkpoints), default=0
            ),
            "open_reviews": [review.build_reference() for review in self.open_reviews],
            "allowances": [],
            "head": build_receipt(self.seq),
            "created_at": AT,
            "updated_at": AT,
            "finished_at": AT if closed else None,
            "url": f"http://checkrail.test/runs/{self.id}",
        }
