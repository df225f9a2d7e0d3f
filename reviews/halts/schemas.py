"""What people's programs send and get about halts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from common.fields import Cursor, Id, Moment
from ledger.chain import format_timestamp
from ledger.models import Halt
from reviews.schemas.fields import Body, Code, Redacted

HaltReason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000),
    Redacted,
]
AgentName = Annotated[str, StringConstraints(min_length=1, max_length=120)]
# A label's name and its value.
LabelText = Annotated[str, StringConstraints(pattern=r"^[^:].*:", max_length=321)]
KEPT_MAX = 100


class HaltScopeIn(Body):
    """One of `project`, `agent` (its name), `label` ("name:value") and `run`; `children`
    are the runs below that run."""

    project: Literal[True] | None = None
    agent: AgentName | None = None
    label: LabelText | None = None
    run: Code | None = None
    children: bool = False

    @model_validator(mode="after")
    def refuse_several(self) -> HaltScopeIn:
        given = [self.project, self.agent, self.label, self.run]
        if sum(each is not None for each in given) != 1:
            raise ValueError("say one of project, agent, label and run")
        if self.children and self.run is None:
            raise ValueError("only a run has children")
        return self


class HaltIn(Body):
    """What is to stop at once, and why."""

    scope: HaltScopeIn
    reason: HaltReason


class ReleaseIn(Body):
    """Why it may go on. What `keep` names is halted by a halt of its own from then on, for
    the same reason as before, without a moment in between."""

    reason: HaltReason
    keep: Annotated[list[HaltScopeIn], Field(max_length=KEPT_MAX)] = []


class HaltScopeOut(BaseModel):
    """What is halted: one of these is not null."""

    project: Literal[True] | None
    agent: str | None
    label: str | None
    run: Id | None
    children: bool


class HaltOut(BaseModel):
    """A halt. `deadlines_moved_at` is when every run of the scope had its time back."""

    id: Id
    project: str
    scope: HaltScopeOut
    reason: str
    by: str
    at: Moment
    state: Literal["standing", "released"]
    released_by: str | None
    released_at: Moment | None
    release_reason: str | None
    deadlines_moved_at: Moment | None


class HaltPage(BaseModel):
    """A page of halts, newest first."""

    items: list[HaltOut]
    next_cursor: Cursor


def serialize_scope(row: Halt) -> dict[str, Any]:
    whole = row.agent is None and not row.label and row.run is None
    return {
        "project": True if whole else None,
        "agent": row.agent.name if row.agent else None,
        "label": row.label or None,
        "run": str(row.run.code) if row.run else None,
        "children": row.children,
    }


def serialize_halt(row: Halt) -> dict[str, Any]:
    moved = row.deadlines_moved_at
    return {
        "id": str(row.code),
        "project": row.project.slug,
        "scope": serialize_scope(row),
        "reason": row.reason,
        "by": row.by.username,
        "at": format_timestamp(row.at),
        "state": "released" if row.released_at else "standing",
        "released_by": row.released_by.username if row.released_by else None,
        "released_at": format_timestamp(row.released_at) if row.released_at else None,
        "release_reason": row.release_reason or None,
        "deadlines_moved_at": format_timestamp(moved) if moved else None,
    }
