"""Whether a value may hold a secret at all: asked before anything else is done with it.

Most values hold none, and reading them text by text costs several times more than this.
It says yes too often, never no to something that the full search would find or hide.
"""

from __future__ import annotations

from guidance.core.secrets.limits import (
    LIMIT,
    PRICE_OF_EACH,
    PRICE_OF_NAME,
    PRICE_OF_TEXT,
)
from guidance.core.secrets.names import may_promise
from guidance.core.secrets.scan import may_hold_hits
from guidance.core.secrets.walk import NAMING

# In longer values the full search saves too little by it: it reads each of them as often.
_LONGEST = 16_384
_DEEPEST = 20
# At most so much is paid for a text in which nothing is found.
_PRICE = PRICE_OF_EACH + PRICE_OF_NAME
_LONG_TEXT = 1_000


def may_hold_secrets(value: object, *, limit: int = LIMIT) -> bool:
    """No only where the full search finds nothing, and within this limit."""
    if type(value) is str:
        return len(value) > _LONGEST or limit < LIMIT or may_hold_hits(value)
    texts: list[str] = []
    names: list[str] = []
    if not _gather_texts(value, texts, names, _DEEPEST):
        return True
    joined = "\n".join([*texts, *names])
    price = _PRICE * (len(texts) + len(names))
    price += PRICE_OF_TEXT * (1 + len(joined) // _LONG_TEXT)
    if price > limit or len(joined) > _LONGEST:
        return True
    return may_promise(names) or may_hold_hits(joined)


def _gather_texts(
    value: object, texts: list[str], names: list[str], depth: int
) -> bool:
    """False where there is something that only the full search knows how to read.

    `names` are the texts that may name others. Words of a list may be a command: they
    are also read as one line.
    """
    kind = type(value)
    if kind is str:
        texts.append(value)  # type: ignore[arg-type]
    elif kind is dict:
        return depth > 0 and _gather_pairs(value, texts, names, depth)  # type: ignore[arg-type]
    elif kind is list or kind is tuple:
        return depth > 0 and _gather_words(value, texts, names, depth)  # type: ignore[arg-type]
    elif kind is int or kind is float:
        texts.append(repr(value))
    elif value is not None and kind is not bool:
        return False
    return True


def _gather_pairs(
    value: dict[object, object], texts: list[str], names: list[str], depth: int
) -> bool:
    for key, part in value.items():
        if type(key) is not str:
            return False
        names.append(key)
        if type(part) is str:
            (names if key in NAMING else texts).append(part)
        elif not _gather_texts(part, texts, names, depth - 1):
            return False
    return True


def _gather_words(
    value: list[object] | tuple[object, ...],
    texts: list[str],
    names: list[str],
    depth: int,
) -> bool:
    words = [part for part in value if type(part) is str]
    names += words
    if len(words) == len(value):
        texts.append(" ".join(words))
        return True
    others = (part for part in value if type(part) is not str)
    return all(_gather_texts(part, texts, names, depth - 1) for part in others)
