"""Find every secret in one text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import shake_128
from itertools import accumulate

from guidance.core.effort import Effort
from guidance.core.regex import (
    PatternSet,
    combine_patterns,
    compile_byte_pattern,
    encode_one_byte,
)
from guidance.core.secrets.hits import Hit, merge_hits
from guidance.core.secrets.limits import CHARACTERS_FOR_ONE, LIMIT
from guidance.core.secrets.scanners.addresses import SIGNED, scan_addresses
from guidance.core.secrets.scanners.assignments import (
    ASSIGNED,
    SPACE_NAMED,
    scan_assignments,
)
from guidance.core.secrets.scanners.flags import (
    GIVEN,
    USER_GIVEN,
    USER_NAMED,
    scan_flags,
)
from guidance.core.secrets.scanners.headers import SCHEME, scan_headers
from guidance.core.secrets.scanners.hidden import (
    find_base64_texts,
    has_invisible,
    may_hold_base64,
    scan_cut_tokens,
    strip_invisible,
)
from guidance.core.secrets.scanners.key_blocks import KEY_NAMED, scan_key_blocks
from guidance.core.secrets.scanners.secret_commands import (
    MAKES_SECRET,
    scan_secret_commands,
)
from guidance.core.secrets.scanners.tokens import EXACT, START, scan_tokens
from guidance.core.secrets.surroundings import Surroundings

# Nothing shorter than this holds both a name and a secret, or a token.
LEAST = 7
# Most texts hold nothing that any rule looks for, and this says so at once. EXACT
# stays apart: with its counts in it the automaton would have states without number.
_ANYTHING = combine_patterns(
    *(START, KEY_NAMED, SCHEME, SIGNED, GIVEN, MAKES_SECRET, ASSIGNED, SPACE_NAMED)
)
_ADDRESS = compile_byte_pattern("://")
_ANYTHING_ELSE = combine_patterns(EXACT, USER_NAMED, _ADDRESS)
# Which of these it was, again by reading the text once (bench: "a request").
_WHICH = PatternSet(EXACT, _ADDRESS, USER_NAMED, USER_GIVEN)
_IS_EXACT, _IS_ADDRESS, _IS_USER_NAMED, _IS_USER_GIVEN = range(4)
# One word without any sign that gives it a value, and shorter than every token.
_LONE_WORD = re.compile(r"[A-Za-z0-9_./-]{0,13}")
# Of each kind so much is drawn to warm up with.
_DRAWN = 100_000
_PRINTED = "".join(map(chr, range(32, 127)))
_WORD = "".join(filter(str.isalnum, _PRINTED))
_CODE = _WORD + " =:_-.'\"/\n"


def scan(
    text: str, effort: Effort, *, in_tests: bool = False, strict: bool = False
) -> Sequence[Hit]:
    """In order and without overlaps; the more exact rule names what several found.

    `strict` finds also what the rest of the text says is harmless.
    """
    if len(text) < LEAST:
        return ()
    data = encode_one_byte(text)
    hits: list[Hit] = []
    if _is_suspicious(data):
        around = Surroundings(text, data, effort, in_tests=in_tests, strict=strict)
        hits += _scan_suspicious(text, data, effort, around)
    hits += _scan_encoded(data, effort)
    unseen = strip_invisible(text, data, effort)
    if unseen is not None:
        seen = encode_one_byte(unseen.text)
        around = Surroundings(unseen.text, seen, effort, strict=True)
        for hit in _scan_plain(unseen.text, seen, effort, around):
            start, core = (
                unseen.get_original_place(hit.start),
                unseen.get_original_place(hit.core),
            )
            hits.append(
                Hit(start, unseen.get_original_place(hit.end - 1) + 1, hit.kind, core)
            )
    return merge_hits(hits) if hits else ()


def may_hold_hits(text: str) -> bool:
    """Says at once that `scan` finds nothing, in any of the lines, as is usual."""
    if len(text) < LEAST or _LONE_WORD.fullmatch(text):
        return False
    data = encode_one_byte(text)
    return _is_suspicious(data) or may_hold_base64(data) or has_invisible(text, data)


def warm_up() -> None:
    """Let the patterns build their automata, which they do while they search: otherwise
    the first long texts of a process wait for it, each some 40 ms."""
    text = "".join(map(_draw_text, (_PRINTED, _CODE, _WORD)))
    data = encode_one_byte(text)
    for pattern in (_ANYTHING, _ANYTHING_ELSE):
        deque(pattern.finditer(data), maxlen=0)
    effort = Effort(LIMIT)
    around = Surroundings(text, data, effort)
    deque(_scan_plain(text, data, effort, around), maxlen=0)
    deque(_scan_encoded(data, Effort(LIMIT)), maxlen=0)


def _draw_text(alphabet: str) -> str:
    """As good as random, and always the same."""
    letters = (alphabet * 256)[:256]
    drawn = shake_128(alphabet.encode()).digest(_DRAWN)
    return drawn.translate(letters.encode()).decode()


def _is_suspicious(data: bytes) -> bool:
    if _ANYTHING.search(data):
        return True
    if _ANYTHING_ELSE.search(data) is None:
        return False
    found = _WHICH.match(data)
    return (
        _IS_EXACT in found
        or (_IS_ADDRESS in found and b"@" in data)
        or (_IS_USER_NAMED in found and _IS_USER_GIVEN in found)
    )


def _scan_plain(
    text: str, data: bytes, effort: Effort, around: Surroundings
) -> Iterator[Hit]:
    if _is_suspicious(data):
        yield from _scan_suspicious(text, data, effort, around)


def _scan_suspicious(
    text: str, data: bytes, effort: Effort, around: Surroundings
) -> Iterator[Hit]:
    effort.spend(len(data) // CHARACTERS_FOR_ONE)
    yield from scan_tokens(data, effort)
    yield from scan_key_blocks(data, effort)
    yield from scan_addresses(text, data, effort)
    yield from scan_headers(text, data, effort)
    yield from scan_flags(text, data, effort, around)
    yield from scan_secret_commands(text, data, effort, around)
    yield from scan_assignments(text, data, effort, around)
    yield from scan_cut_tokens(data, effort)


def _scan_encoded(data: bytes, effort: Effort) -> Iterator[Hit]:
    """What base64 hides, all of it read at once as lines of one text."""
    texts = find_base64_texts(data, effort)
    if not texts:
        return
    starts = list(accumulate((len(plain) + 1 for _, plain in texts), initial=0))
    joined = "\n".join(plain for _, plain in texts)
    plain_data = encode_one_byte(joined)
    around = Surroundings(joined, plain_data, effort, strict=True)
    for hit in _scan_plain(joined, plain_data, effort, around):
        place, _ = texts[bisect_right(starts, hit.start) - 1]
        yield Hit(place.start, place.end, "encoded-secret", place.start)
