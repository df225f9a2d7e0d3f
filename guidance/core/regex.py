"""Regular expressions in linear time: RE2, for the rules built in and for people's own.

The time of a search grows with the text, never with the ways a pattern could match.
What RE2 cannot do that way (back-references, look-around) is refused when a pattern
is saved. A program has a largest size too: the steps for one character grow with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped]

PATTERN_LIMIT = 1_000
# Instructions of a compiled program, and the largest count in it: x{64} is 64 of them.
PROGRAM_LIMIT = 2_000
COUNT_LIMIT = 64
_TOO_LARGE = "the pattern is too large: use shorter alternatives or smaller counts"
_COUNT = re.compile(r"(?<=[{,])[0-9]+(?=[},])", re.ASCII)
_HALF_PAIRS = re.compile("[\ud800-\udfff]")
_USER_MEMORY = 4 << 20
# Enough for a program of that size: a larger one is given up before it is built.
_PROBE_MEMORY = 128 << 10
# Instructions that stand for a pattern with more of them, or in another dialect.
LARGE_PROGRAM = 50_000
_LARGE_MEMORY = 1 << 20
_OWN_MEMORY = 32 << 20
_LONG = 8_192
_ANYWHERE, _AT_START = re2._Anchor.UNANCHORED, re2._Anchor.ANCHOR_START


class Span(NamedTuple):
    start: int
    end: int


class PatternRefused(ValueError):
    """A pattern that cannot be searched for in linear time, or is none at all."""


class Pattern:
    """A compiled pattern over text, as people write it in a policy."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str, compiled: Any) -> None:
        self.text = text
        self._compiled = compiled

    def find(self, text: str, *, limit: int = 100) -> tuple[Span, ...]:
        """The first places where it matches; a few are enough to show to a person."""
        if not text.isascii():
            # Half of a surrogate pair cannot be encoded; it matches nothing either.
            text = _HALF_PAIRS.sub("\ufffd", text)
        found = islice(self._compiled.finditer(text), limit)
        return tuple(Span(*match.span()) for match in found)


class BytePattern:
    """A compiled rule of our own. It reads one byte per character, see `encode_one_byte`."""

    __slots__ = ("_compiled", "_find", "text")

    def __init__(self, text: str, compiled: Any) -> None:
        # As it may stand in another pattern: with its own way of taking case.
        self.text = text
        self._compiled = compiled
        # RE2 itself: the generator and the match object that its Python part makes for
        # every search cost more than a search of a few words (bench: "a request").
        self._find = compiled._regexp.Match

    @property
    def size(self) -> int:
        """How many instructions it has: what one character can cost at most."""
        return int(self._compiled.programsize)

    def search(self, data: bytes, start: int = 0) -> Span | None:
        found: tuple[int, int] = self._find(_ANYWHERE, data, start, len(data))[0]
        return None if found[0] < 0 else Span(*found)

    def match(self, data: bytes, start: int = 0) -> Span | None:
        found: tuple[int, int] = self._find(_AT_START, data, start, len(data))[0]
        return None if found[0] < 0 else Span(*found)

    def finditer(self, data: bytes) -> Iterator[Span]:
        for found in self._compiled.finditer(data):
            yield Span(*found.span())

    def group(self, data: bytes, start: int, end: int) -> Span | None:
        """The one group that took part in the first match between these places."""
        found = self._compiled.search(data, start, end)
        if found is None:
            return None
        spans = map(found.span, range(1, self._compiled.groups + 1))
        return next(Span(*span) for span in spans if span[0] >= 0)


class PatternSet:
    """Several rules of our own, asked in one pass over a text which of them match.

    One pass costs about as much as a search for one of them, and half of what a search
    costs lies in finding out where a match begins (bench: "a whole call"). A search for
    one gives up building its automaton where that takes too long, and a set does not:
    a long text, which may be made for that, is searched for each of them.
    """

    __slots__ = ("_compiled", "_patterns")

    def __init__(self, *patterns: BytePattern) -> None:
        self._patterns = patterns
        self._compiled = re2.Set.SearchSet(_build_options())
        for pattern in patterns:
            self._compiled.Add(pattern.text.encode("latin-1"))
        self._compiled.Compile()

    def match(self, data: bytes) -> Collection[int]:
        """The places of those that match in the list that was given."""
        if len(data) > _LONG:
            each = enumerate(self._patterns)
            return [place for place, pattern in each if pattern.search(data)]
        found: list[int] | None = self._compiled.Match(data)
        return found or ()


def compile_pattern(text: str) -> Pattern:
    """A person's pattern, ready to search; raises PatternRefused with the reason."""
    if not text:
        raise PatternRefused("the pattern is empty and would match everything")
    if len(text) > PATTERN_LIMIT:
        raise PatternRefused(f"the pattern is longer than {PATTERN_LIMIT} characters")
    if any(int(count) > COUNT_LIMIT for count in _COUNT.findall(text)):
        raise PatternRefused(f"a count in the pattern is larger than {COUNT_LIMIT}")
    try:
        size = _compile(text, memory=_PROBE_MEMORY).programsize
    except (re2.error, UnicodeEncodeError) as error:
        raise PatternRefused(_describe_error(error)) from None
    if size > PROGRAM_LIMIT:
        raise PatternRefused(_TOO_LARGE)
    return Pattern(text, _compile(text, memory=_USER_MEMORY))


def measure_pattern(text: str) -> int:
    """Count the instructions of a pattern that another engine will run."""
    try:
        size = int(_compile(text, memory=_LARGE_MEMORY).programsize)
    except (re2.error, UnicodeEncodeError):
        return LARGE_PROGRAM
    return min(size, LARGE_PROGRAM)


def _compile(text: str, *, memory: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return re2.compile(text, options)


def compile_byte_pattern(
    text: str, *, ignore_case: bool = False, groups: bool = False
) -> BytePattern:
    """A rule built in; ^ and $ are the ends of the text."""
    options = _build_options()
    options.never_capture = not groups
    options.case_sensitive = not ignore_case
    compiled = re2.compile(text.encode("latin-1"), options)
    return BytePattern(f"(?i:{text})" if ignore_case else f"(?:{text})", compiled)


def _build_options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _OWN_MEMORY
    return options


def combine_patterns(*patterns: BytePattern) -> BytePattern:
    """All of them read at once. Each should be short where it matches: to find out where
    it begins, the text is read back from its end."""
    return compile_byte_pattern("|".join(pattern.text for pattern in patterns))


def encode_one_byte(text: str) -> bytes:
    """One byte for each character, so that places in both are the same.

    Our rules look for ASCII alone, so any other character may become a question mark.
    """
    return text.encode("ascii", "replace")


def _describe_error(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "the pattern holds half of a surrogate pair"
    raw = error.args[0] if error.args else ""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    if text.startswith("pattern too large"):
        return _TOO_LARGE
    return f"not a pattern that runs in linear time: {text}"
