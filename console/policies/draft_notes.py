"""The reason for a draft, typed before it is tried: it goes along to its backtest, to those
that are run after it, and back to the editor. It stays in the person's session, as nothing
is published with it yet."""

from __future__ import annotations

from uuid import UUID

from console.access import ConsoleRequest
from console.forms import get_limit
from reviews.schemas.fields import ShortText

_KEY = "draft_notes"
# The newest are kept.
_KEPT = 20
_LIMIT = get_limit(ShortText)


def store_draft_note(request: ConsoleRequest, backtest: UUID, note: str) -> None:
    kept: dict[str, str] = request.session.get(_KEY, {})
    kept.pop(str(backtest), None)
    if note:
        kept[str(backtest)] = note[:_LIMIT]
    request.session[_KEY] = dict(list(kept.items())[-_KEPT:])


def get_draft_note(request: ConsoleRequest, backtest: UUID | None) -> str:
    kept: dict[str, str] = request.session.get(_KEY, {})
    return kept.get(str(backtest), "")
