"""Halts as people see them."""

from __future__ import annotations

from django.db.models import QuerySet

from common.errors import NotFound
from common.ids import parse_code
from ledger.models import Halt

RELATED = ("project", "agent", "run", "by", "released_by")


def list_visible_halts(*, user_id: int) -> QuerySet[Halt]:
    """Of all projects that the person is in."""
    rows = Halt.objects.select_related(*RELATED)
    return rows.filter(project__membership__user_id=user_id)


def get_visible_halt(*, user_id: int, code: str) -> Halt:
    known = parse_code(code)
    rows = list_visible_halts(user_id=user_id)
    row = rows.filter(code=known).first() if known else None
    if row is None:
        raise NotFound
    return row


def list_standing_halts(*, project_id: int) -> QuerySet[Halt]:
    """The oldest first."""
    rows = Halt.objects.select_related(*RELATED).order_by("pk")
    return rows.filter(project_id=project_id, released_at=None)
