"""Pieces of secrets: what must not be left over anywhere, and where it still stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import compress

from guidance.core.effort import Effort
from guidance.core.regex import BytePattern, compile_byte_pattern, encode_one_byte
from guidance.core.secrets.labels import WINDOW, list_windows

Span = tuple[int, int]

# A secret of one or two characters is hidden where it stands, but not wherever those
# characters stand.
_LEAST = 3
_SIZES = range(_LEAST, WINDOW + 1)
# A pattern of so few pieces is quick to make, and in long texts much quicker to find.
_FEW = 64
_LONG = 16_384
# For all texts together, see `effort`: of a few secrets pieces are found at once, for
# those of many some 350,000 characters are read.
_LIMIT = 12_000
_PRICE_OF_MATCH = 16
_PRICE_OF_PLACE = 4
_CHARACTERS_FOR_ONE = 30


class Pieces:
    """Every WINDOW characters in a row of the secrets, and the shorter secrets whole."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._effort = Effort(_LIMIT)
        self._windows: set[str] = set()
        self._threes: set[tuple[int, int, int]] = set()
        self._short: set[str] = set()
        for secret in set(secrets):
            if len(secret) >= WINDOW:
                data = encode_one_byte(secret)
                self._windows |= list_windows(secret)
                self._threes.update(zip(data, data[1:], data[2:], strict=False))
            elif len(secret) >= _LEAST:
                self._short.add(secret)
        self._all = self._windows | self._short
        self._any_short = _compile_pieces(self._short)
        self._any: BytePattern | None = None

    def are_in(self, text: str) -> bool:
        """For short texts, such as labels."""
        return not self._windows.isdisjoint(list_windows(text)) or any(
            secret in text for secret in self._short
        )

    def find_spans(self, text: str) -> list[Span]:
        """Where they stand, in order and apart; raises TooMuchError in the end."""
        if len(text) < _LEAST:
            return []
        data = encode_one_byte(text)
        if len(text) >= _LONG and len(self._all) <= _FEW:
            self._any = self._any or _compile_pieces(self._all)
            return _unite_spans(self._matches(self._any, text, data))
        long = self._around_threes(text, data)
        return _unite_spans([*long, *self._matches(self._any_short, text, data)])

    def _around_threes(self, text: str, data: bytes) -> Iterator[Span]:
        """Any five characters hold three that begin at a multiple of three: only those
        are looked up, and then what stands around them."""
        self._effort.spend(len(data) // _CHARACTERS_FOR_ONE)
        threes = zip(data[::3], data[1::3], data[2::3], strict=False)
        known = map(self._threes.__contains__, threes)
        for place in compress(range(0, len(data), 3), known):
            self._effort.spend(_PRICE_OF_PLACE)
            for start in range(max(0, place - 2), place + 1):
                if text[start : start + WINDOW] in self._windows:
                    yield start, start + WINDOW

    def _matches(
        self, pattern: BytePattern | None, text: str, data: bytes
    ) -> Iterator[Span]:
        position = 0
        while pattern and (place := pattern.search(data, position)):
            self._effort.spend(_PRICE_OF_MATCH)
            position = place.start + 1
            for size in _SIZES:
                if text[place.start : place.start + size] in self._all:
                    yield place.start, place.start + size


def _compile_pieces(pieces: Iterable[str]) -> BytePattern | None:
    forms = sorted(
        {re.escape(encode_one_byte(piece).decode("ascii")) for piece in pieces}
    )
    return compile_byte_pattern("|".join(forms)) if forms else None


def _unite_spans(spans: Iterable[Span]) -> list[Span]:
    """In order; spans that touch are one."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united
