"""The secrets of a decoded value, text by text.

All texts are first read as lines of one long text. That costs a fraction of reading
each of them, and says which few have to be read for themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, repeat
from typing import NamedTuple

from guidance.core.secrets.addresses import credential
from guidance.core.secrets.hits import HIT_LIMIT, REST, UNTOLD, Hit, merged
from guidance.core.secrets.names import Promise, promise
from guidance.core.secrets.scan import scan
from guidance.core.secrets.values import is_secret_value
from guidance.core.secrets.walk import OwnKeys, Text, texts

# More secrets than this in one value are not told apart: the rest of it is hidden.
VALUE_LIMIT = 2 * HIT_LIMIT
# So often reading begins again behind a text in which it was given up.
_ROUNDS = 3


class Leaf(NamedTuple):
    """A text that holds secrets, and where."""

    place: Text
    hits: Sequence[Hit]


def inspect(value: object, *, own_keys: OwnKeys = frozenset()) -> list[Leaf]:
    """Only the texts that hold a secret, in the order of the value."""
    every = list(texts(value, own_keys=own_keys))
    suspects = _suspects(every)
    promises: dict[str, Promise | None] = {}
    found = []
    told = 0
    for number, place in enumerate(every):
        if told >= VALUE_LIMIT:
            hidden = _all_of(every[number:])
            found += [Leaf(every[number + at], hits) for at, hits in hidden.items()]
            break
        name = place.name
        if name and name not in promises:
            promises[name] = promise(name)
        hits = suspects.get(number, ())
        promised = promises[name] if name else None
        if promised is not None:
            hits = _with_name(place, hits, promised)
        if hits:
            found.append(Leaf(place, hits))
            told += len(hits)
    return found


def _suspects(every: Sequence[Text]) -> dict[int, Sequence[Hit]]:
    """The secrets that each text shows by itself."""
    if len(every) == 1:
        return {0: scan(every[0].text)}
    result: dict[int, Sequence[Hit]] = {}
    unread = 0
    for _ in range(_ROUNDS):
        unread = _read(every, unread, result)
    hidden = _all_of(every[unread:])
    return result | {unread + at: hits for at, hits in hidden.items()}


def _read(every: Sequence[Text], begin: int, result: dict[int, Sequence[Hit]]) -> int:
    """Reads on from this text and returns the first one that was not read."""
    lines = [place.text for place in every[begin:]]
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for hit in scan("\n".join(lines)):
        first = bisect_right(starts, hit.start) - 1
        last = min(bisect_right(starts, hit.end - 1), len(lines)) - 1
        if hit.kind == REST:
            # Reading was given up in this text; those behind it are read anew.
            last = first
        for number in range(first, last + 1):
            if begin + number not in result:
                result[begin + number] = scan(lines[number])
        if hit.kind == REST:
            return begin + first + 1
    return len(every)


def _all_of(rest: Sequence[Text]) -> dict[int, Sequence[Hit]]:
    """Every text that is not empty, as one secret from its first to its last letter."""
    kinds = chain((REST,), repeat(UNTOLD))
    filled = ((at, len(place.text)) for at, place in enumerate(rest) if place.text)
    return {at: (Hit(0, end, next(kinds), 0),) for at, end in filled}


def _with_name(place: Text, hits: Iterable[Hit], promised: Promise) -> Sequence[Hit]:
    """Together with what the name of the text says about the whole of it."""
    text = place.text
    whole: tuple[int, int] | None = None
    if promised.kind == "authorization":
        whole = credential(text, 0, len(text), expected=True)
    if place.is_number and not (promised.strong and text.isdigit()):
        return tuple(hits)
    if whole is None and is_secret_value(text, promised):
        whole = (0, len(text))
    if whole is None:
        return tuple(hits)
    return merged([*hits, Hit(*whole, promised.kind, whole[0])])
