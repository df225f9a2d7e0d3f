"""Find every secret in one text."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import shake_128
from itertools import accumulate

from guidance.core.effort import Effort
from guidance.core.regex import combine_patterns, compile_byte_pattern, encode_one_byte
from guidance.core.secrets.hits import Hit, merge_hits
from guidance.core.secrets.limits import CHARACTERS_FOR_ONE, LIMIT
from guidance.core.secrets.scanners.addresses import SCHEME, scan_addresses
from guidance.core.secrets.scanners.assignments import (
    ASSIGNED,
    SPACE_NAMED,
    scan_assignments,
)
from guidance.core.secrets.scanners.flags import (
    GIVEN,
    USER_NAMED,
    gives_a_user,
    scan_flags,
)
from guidance.core.secrets.scanners.hidden import (
    find_base64_texts,
    scan_cut_tokens,
    strip_invisible,
)
from guidance.core.secrets.scanners.key_blocks import KEY_NAMED, scan_key_blocks
from guidance.core.secrets.scanners.tokens import EXACT, START, scan_tokens

# Nothing shorter than this holds both a name and a secret, or a token.
_LEAST = 7
# Most texts hold nothing that any rule looks for, and this says so at once. EXACT
# stays apart: with its counts in it the automaton would have states without number.
_ANYTHING = combine_patterns(START, KEY_NAMED, SCHEME, GIVEN, ASSIGNED, SPACE_NAMED)
_ANYTHING_ELSE = combine_patterns(EXACT, USER_NAMED, compile_byte_pattern("://"))
# Of each kind so much is drawn to warm up with.
_DRAWN = 100_000
_PRINTED = "".join(map(chr, range(32, 127)))
_WORD = "".join(filter(str.isalnum, _PRINTED))
_CODE = _WORD + " =:_-.'\"/\n"


def scan(text: str, effort: Effort) -> Sequence[Hit]:
    """In order and without overlaps; the more exact rule names what several found."""
    if len(text) < _LEAST:
        return ()
    data = encode_one_byte(text)
    hits = list(_scan_plain(text, data, effort))
    hits += _scan_encoded(data, effort)
    unseen = strip_invisible(text, data, effort)
    if unseen is not None:
        for hit in _scan_plain(unseen.text, encode_one_byte(unseen.text), effort):
            start, core = (
                unseen.get_original_place(hit.start),
                unseen.get_original_place(hit.core),
            )
            hits.append(
                Hit(start, unseen.get_original_place(hit.end - 1) + 1, hit.kind, core)
            )
    return merge_hits(hits) if hits else ()


def warm_up() -> None:
    """Let the patterns build their automata, which they do while they search: otherwise
    the first long texts of a process wait for it, each some 40 ms."""
    text = "".join(map(_draw_text, (_PRINTED, _CODE, _WORD)))
    data = encode_one_byte(text)
    for pattern in (_ANYTHING, _ANYTHING_ELSE):
        deque(pattern.finditer(data), maxlen=0)
    deque(_scan_plain(text, data, Effort(LIMIT)), maxlen=0)
    deque(_scan_encoded(data, Effort(LIMIT)), maxlen=0)


def _draw_text(alphabet: str) -> str:
    """As good as random, and always the same."""
    letters = (alphabet * 256)[:256]
    drawn = shake_128(alphabet.encode()).digest(_DRAWN)
    return drawn.translate(letters.encode()).decode()


def _is_suspicious(data: bytes) -> bool:
    if _ANYTHING.search(data):
        return True
    return _ANYTHING_ELSE.search(data) is not None and (
        EXACT.search(data) is not None
        or (b"://" in data and b"@" in data)
        or gives_a_user(data)
    )


def _scan_plain(text: str, data: bytes, effort: Effort) -> Iterator[Hit]:
    if not _is_suspicious(data):
        return
    effort.spend(len(data) // CHARACTERS_FOR_ONE)
    yield from scan_tokens(data, effort)
    yield from scan_key_blocks(data, effort)
    yield from scan_addresses(text, data, effort)
    yield from scan_flags(text, data, effort)
    yield from scan_assignments(text, data, effort)
    yield from scan_cut_tokens(data, effort)


def _scan_encoded(data: bytes, effort: Effort) -> Iterator[Hit]:
    """What base64 hides, all of it read at once as lines of one text."""
    texts = find_base64_texts(data, effort)
    if not texts:
        return
    starts = list(accumulate((len(plain) + 1 for _, plain in texts), initial=0))
    joined = "\n".join(plain for _, plain in texts)
    for hit in _scan_plain(joined, encode_one_byte(joined), effort):
        place, _ = texts[bisect_right(starts, hit.start) - 1]
        yield Hit(place.start, place.end, "encoded-secret", place.start)
