"""One text, every secret in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from guidance.core.arguments.patterns import one_byte
from guidance.core.secrets.addresses import addresses
from guidance.core.secrets.assignments import assignments
from guidance.core.secrets.flags import flags
from guidance.core.secrets.hidden import base64_texts, cut_tokens, seen
from guidance.core.secrets.hits import Hit, capped, merged
from guidance.core.secrets.keyblocks import key_blocks
from guidance.core.secrets.tokens import tokens

# Nothing shorter than this holds both a name and a secret, or a token.
_LEAST = 7


def scan(text: str) -> Sequence[Hit]:
    """In order and without overlaps; the more exact rule names what several found."""
    if len(text) < _LEAST:
        return ()
    data = one_byte(text)
    hits = list(_plain(text, data))
    hits += cut_tokens(text, data)
    hits += _encoded(data)
    unseen = seen(text, data)
    if unseen is not None:
        for hit in _plain(unseen.text, one_byte(unseen.text)):
            start, core = unseen.before(hit.start), unseen.before(hit.core)
            hits.append(Hit(start, unseen.before(hit.end - 1) + 1, hit.kind, core))
    return capped(merged(hits), length=len(text))


def _plain(text: str, data: bytes) -> Iterator[Hit]:
    yield from tokens(data)
    yield from key_blocks(text, data)
    yield from addresses(text, data)
    yield from flags(text, data)
    yield from assignments(text, data)


def _encoded(data: bytes) -> Iterator[Hit]:
    """What base64 hides, all of it read at once as lines of one text."""
    texts = base64_texts(data)
    if not texts:
        return
    starts = list(accumulate((len(plain) + 1 for _, plain in texts), initial=0))
    joined = "\n".join(plain for _, plain in texts)
    for hit in _plain(joined, one_byte(joined)):
        place, _ = texts[bisect_right(starts, hit.start) - 1]
        yield Hit(place.start, place.end, "encoded-secret", place.start)
