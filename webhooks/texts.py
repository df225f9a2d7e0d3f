"""Words of agents and people on their way out of the house: without secrets, without
characters that nobody sees, and short."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from guidance.redactor import clean
from safetext import visible

T = TypeVar("T")
TEXT_LIMIT = 2_000


def fitting(**texts: str | None) -> dict[str, Any]:
    """The texts under their names; `truncated` names those that did not fit."""
    shown = {name: None if text is None else safe(text) for name, text in texts.items()}
    long = [name for name, text in shown.items() if text and len(text) > TEXT_LIMIT]
    for name in long:
        shown[name] = shortened(shown[name] or "", limit=TEXT_LIMIT)
    return {**shown, "truncated": long} if long else dict(shown)


def excerpt(reply: str, *, limit: int) -> str:
    """The beginning of what a receiver answered, as it may be kept and shown."""
    # Cleaned before it is cut: half a secret is not recognised.
    return shortened(safe(reply[: 8 * limit]), limit=limit)


def shortened(text: str, *, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def safe(value: T) -> T:
    """A text, or a document with all of its texts."""
    return cast("T", _visible(clean(value)))


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _visible(each) for name, each in value.items()}
    return [_visible(each) for each in value] if isinstance(value, list) else value
