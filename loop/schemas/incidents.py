"""Incidents: conditions that were reported, from when they began to when they ended."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from common.fields import Cursor, Id, Moment
from loop.schemas.fields import LoopQuery
from reviews.schemas.fields import Body, ShortText


class ResolveIn(Body):
    """Why an incident is over."""

    note: ShortText = ""


class IncidentFilters(LoopQuery):
    state: Literal["open", "resolved"] | None = None


class IncidentOut(BaseModel):
    """A condition, when it began, and when it ended if it has."""

    id: Id
    condition: str
    state: str
    severity: str
    title: str
    detail: str
    joins: int
    decision_id: Id
    previous: Id | None
    opened_at: Moment
    seen_at: Moment
    changed_at: Moment | None
    resolved_at: Moment | None


class IncidentPage(BaseModel):
    """A page of incidents, newest first."""

    items: list[IncidentOut]
    next_cursor: Cursor
