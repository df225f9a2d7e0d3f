"""Finding the text of an edit in the original, in three layers.

1. exact: to the letter; if the edit knows only LF, its line ends may be the file's.
2. whitespace: whole lines that are the same but for their white space.
3. similarity: as many whole lines that are at least 90 % the same, character by
   character.

The first layer with a match is the one that counts. The third is the only costly one:
`Effort` bounds what all edits of a plan may spend on it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import NamedTuple

from guidance.core.edits.edit import Layer
from guidance.core.edits.lines import Lines
from guidance.core.edits.similarity import Effort, Windows


class Found(NamedTuple):
    """A place in the original, and whether it was found to the letter."""

    start: int
    end: int
    layer: Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """All that matches; `left_out` says that the similarity layer was too costly."""

    found: tuple[Found, ...]
    left_out: bool = False


class Original:
    """The text that is edited, prepared once for all edits."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self._endings = _endings(text)
        self._windows: Windows | None = None
        self._normal: str | None = None
        self._normal_starts: list[int] = []

    def search(self, old: str, *, every: bool, limit: int, effort: Effort) -> Search:
        """Matches of the best layer, one more than the limit at most.

        With `every` those that do not overlap, left to right; else all there are,
        since any second one makes the edit ambiguous.
        """
        found = _limited(self._exact(old, every=every), limit)
        if not found:
            found = _limited(self._whitespace(old, every=every), limit)
        if found:
            return Search(found=found)
        if self._windows is None:
            self._windows = Windows(self.lines)
        windows = self._windows.similar(old, limit=limit, effort=effort)
        if windows is None:
            return Search(found=(), left_out=True)
        spans = (self._span(old, *window, layer="similarity") for window in windows)
        return Search(found=tuple(spans))

    def _exact(self, old: str, *, every: bool) -> Iterator[Found]:
        for form in self._forms(old):
            step = len(form) if every else 1
            found = False
            at = self.text.find(form)
            while at >= 0:
                if not self._is_half_ending(at, form, old):
                    found = True
                    yield Found(at, at + len(form), "exact")
                at = self.text.find(form, at + step)
            if found:
                return

    def _is_half_ending(self, at: int, form: str, old: str) -> bool:
        """The LF of a CRLF is no line end for an edit that knows nothing of CR."""
        halves = form[0] == "\n" and self.text[at - 1 : at] == "\r"
        return halves and "\r" not in old

    def _forms(self, old: str) -> Iterator[str]:
        """As given, then with each of the line ends that the file has."""
        yield old
        if "\n" not in old and "\r" not in old:
            return
        plain = old.replace("\r\n", "\n")
        for ending in self._endings:
            form = plain.replace("\n", ending)
            if form != old:
                yield form

    def _whitespace(self, old: str, *, every: bool) -> Iterator[Found]:
        wanted = [_normal(line) for line in Lines(old).contents]
        if not any(wanted):
            return
        if self._normal is None:
            normal = [_normal(line) for line in self.lines.contents]
            self._normal = "\n".join(["", *normal, ""])
            sizes = map(len, normal)
            self._normal_starts = [*accumulate((n + 1 for n in sizes), initial=0)]
        form = "\n".join(["", *wanted, ""])
        at = self._normal.find(form)
        while at >= 0:
            first = bisect_right(self._normal_starts, at) - 1
            yield self._span(old, first, first + len(wanted), layer="whitespace")
            # The line end before the next match may be the last one of this match.
            at = self._normal.find(form, at + (len(form) - 1 if every else 1))

    def _span(self, old: str, first: int, last: int, *, layer: Layer) -> Found:
        """Whole lines, `last` not included, as far as `old` reaches at both sides."""
        start = self.lines.starts[first]
        if not old[:1].isspace():
            line = self.lines.contents[first]
            start += len(line) - len(line.lstrip())
        whole = old.endswith(("\n", "\r"))
        ends = self.lines.afters if whole else self.lines.ends
        return Found(start, ends[last - 1], layer)


def _limited(found: Iterator[Found], limit: int) -> tuple[Found, ...]:
    """One more than the limit, so that it shows when there are too many."""
    return tuple(islice(found, limit + 1))


def _normal(line: str) -> str:
    return " ".join(line.split())


def _endings(text: str) -> list[str]:
    found = ["\r\n"] if "\r\n" in text else []
    lone = text.replace("\r\n", "")
    return found + [ending for ending in ("\n", "\r") if ending in lone]
