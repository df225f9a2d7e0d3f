"""How an agent's turn ended, where it was put before a person as a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetext import ShownText, pages, show_text, visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWords:
    """`before` counts the characters of a long turn that stand before what is shown."""

    reason: str
    said: ShownText | None
    before: int


def turn_words_of(content: Mapping[str, Any]) -> TurnWords | None:
    """None for a question that the agent asked by itself.

    Of a long turn its last page is shown: there it says what it waits for.
    """
    if "reason" not in content:
        return None
    text = content["detail"]
    last = pages(text)[-1]
    return TurnWords(
        reason=visible_line(content["reason"]),
        said=show_text(text, page=last) if text else None,
        before=last[0],
    )
