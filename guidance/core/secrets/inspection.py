"""The secrets of a decoded value, text by text.

All texts are first read as lines of one long text. That costs a fraction of reading
each of them, and says which few have to be read for themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from guidance.core.secrets.addresses import credential
from guidance.core.secrets.hits import REST, Hit, merged
from guidance.core.secrets.names import Promise, promise
from guidance.core.secrets.scan import scan
from guidance.core.secrets.values import is_secret_value
from guidance.core.secrets.walk import Text, texts


class Leaf(NamedTuple):
    """A text that holds secrets, and where."""

    place: Text
    hits: Sequence[Hit]


def inspect(value: object) -> list[Leaf]:
    """Only the texts that hold a secret, in the order of the value."""
    every = list(texts(value))
    suspects = _suspects(every)
    promises: dict[str, Promise | None] = {}
    found = []
    for number, place in enumerate(every):
        name = place.name
        if name and name not in promises:
            promises[name] = promise(name)
        hits = suspects.get(number, ())
        promised = promises[name] if name else None
        if promised is not None:
            hits = _with_name(place, hits, promised)
        if hits:
            found.append(Leaf(place, hits))
    return found


def _suspects(every: Sequence[Text]) -> dict[int, Sequence[Hit]]:
    """The secrets that each text shows by itself."""
    if len(every) == 1:
        return {0: scan(every[0].text)}
    starts = list(accumulate((len(place.text) + 1 for place in every), initial=0))
    result: dict[int, Sequence[Hit]] = {}
    for hit in scan("\n".join(place.text for place in every)):
        first = bisect_right(starts, hit.start) - 1
        last = bisect_right(starts, hit.end - 1) - 1
        for number in range(first, min(last, len(every) - 1) + 1):
            text = every[number].text
            if number not in result:
                result[number] = scan(text) if hit.kind != REST else _all_of(text)
    return result


def _all_of(text: str) -> Sequence[Hit]:
    return (Hit(0, len(text), REST, 0),) if text else ()


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
