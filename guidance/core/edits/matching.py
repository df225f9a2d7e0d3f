"""Find the text of an edit in the original, in three layers.

1. exact: to the letter; if the edit knows only LF, its line ends may be the file's.
2. whitespace: whole lines that are the same but for their white space. What is put
   there is indented as the file is.
3. similarity: as many whole lines that are at least 90 % the same, character by
   character.

The first layer with a match is the one that counts. Each look is paid for. The third
layer is the only one that is left out when it costs too much.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from guidance.core.edits.edit import Edit, Layer
from guidance.core.edits.indentation import Indentation, compare_indentation
from guidance.core.edits.lines import Lines, split_contents
from guidance.core.edits.similarity import Windows
from guidance.core.effort import Effort

# A microsecond's worth: characters searched and read, lines cut. And what it costs to
# tell the place of lines.
_SEARCHED = 200
_READ = 60
_CUT = 4
_PLACED = 4
# Looking for a short text in a short one is the only search that may take as long as
# both multiplied. So no text that is searched is short: there is room behind it.
_ROOM = "\0" * 30_000
_ENDS = ("\n", "\r")


class Found(NamedTuple):
    """A place in the original, how it was found, and in which of its lines."""

    start: int
    end: int
    layer: Layer
    first: int = 0


class Original:
    """The text that is edited, prepared once for all edits."""

    def __init__(self, text: str, effort: Effort) -> None:
        effort.spend(_price_reading(text))
        self.text = text
        self.lines = Lines(text)
        self._effort = effort
        self._searched = text + _ROOM
        self._endings = _find_endings(text)
        self._windows: Windows | None = None
        self._normal = ""
        self._normal_starts: list[int] = []

    def search(self, old: str, *, every: bool, limit: int) -> tuple[Found, ...]:
        """Matches of the first layer that has any, one more than the limit at most.

        With `every` those that do not overlap, left to right; else all there are,
        since any second one makes the edit ambiguous.
        """
        exact = _take_limited(self._find_exact(old, every=every), limit)
        return exact or _take_limited(self._find_by_whitespace(old, every=every), limit)

    def find_similar(self, old: str, *, limit: int) -> tuple[Found, ...] | None:
        """Matches of the third layer; None when looking would cost too much."""
        if self._windows is None:
            self._windows = Windows(self.lines.contents)
        windows = self._windows.find_similar(old, limit=limit, effort=self._effort)
        if windows is None:
            return None
        return tuple(
            self._build_span(old, *window, layer="similarity") for window in windows
        )

    def price_reading(self, text: str) -> None:
        self._effort.spend(_price_reading(text))

    def get_indentation(self, found: Found, old: str) -> Indentation:
        """Find how the file indents the lines that `old` was found in."""
        if found.layer != "whitespace":
            return Indentation()
        given = split_contents(old)
        self._effort.spend(_price_reading(old))
        own = self.lines.contents[found.first : found.first + len(given)]
        return compare_indentation(given, own)

    def get_ending(self, start: int, end: int) -> str:
        """The line ending in use there; most files have no more than one."""
        if len(self._endings) > 1:
            return self.lines.get_ending(start, end)
        return self._endings[0] if self._endings else "\n"

    def _find_exact(self, old: str, *, every: bool) -> Iterator[Found]:
        for form in self._list_forms(old):
            found = False
            step = len(form) if every else 1
            for at in self._list_places(self._searched, form, step):
                end = at + len(form)
                if end > len(self.text):
                    break
                if not self._is_half_ending(at, form, old):
                    found = True
                    yield Found(at, end, "exact")
            if found:
                return

    def _list_places(self, text: str, form: str, step: int) -> Iterator[int]:
        self._effort.spend(len(text) // _SEARCHED)
        price = 1 + len(form) // _SEARCHED
        at = text.find(form)
        while at >= 0:
            self._effort.spend(price)
            yield at
            at = text.find(form, at + step)

    def _is_half_ending(self, at: int, form: str, old: str) -> bool:
        """The LF of a CRLF is no line end for an edit that knows nothing of CR."""
        halves = form[0] == "\n" and self.text[at - 1 : at] == "\r"
        return halves and "\r" not in old

    def _list_forms(self, old: str) -> Iterator[str]:
        """As given, then with each of the line ends that the file has."""
        yield old
        if "\n" not in old and "\r" not in old:
            return
        self._effort.spend(_price_reading(old))
        plain = old.replace("\r\n", "\n")
        for ending in self._endings:
            form = plain.replace("\n", ending)
            if form != old:
                yield form

    def _find_by_whitespace(self, old: str, *, every: bool) -> Iterator[Found]:
        self._effort.spend(_price_reading(old))
        wanted = [_normalize(line) for line in split_contents(old)]
        if not any(wanted):
            return
        if not self._normal:
            self._effort.spend(_price_reading(self.text))
            normal = [_normalize(line) for line in self.lines.contents]
            self._normal = "\n".join(["", *normal, _ROOM])
            sizes = map(len, normal)
            self._normal_starts = [*accumulate((n + 1 for n in sizes), initial=0)]
        form = "\n".join(["", *wanted, ""])
        # The line end before the next match may be the last one of this match.
        step = len(form) - 1 if every else 1
        for at in self._list_places(self._normal, form, step):
            self._effort.spend(_PLACED)
            first = bisect_right(self._normal_starts, at) - 1
            yield self._build_span(old, first, first + len(wanted), layer="whitespace")

    def _build_span(self, old: str, first: int, last: int, *, layer: Layer) -> Found:
        """Whole lines, `last` not included, as far as `old` reaches at both sides."""
        start = self.lines.start(first)
        if not old[:1].isspace():
            line = self.lines.contents[first]
            start += len(line) - len(line.lstrip())
        whole = old.endswith(_ENDS)
        end = self.lines.get_next_start if whole else self.lines.end
        return Found(start, end(last - 1), layer, first)


def _take_limited(found: Iterator[Found], limit: int) -> tuple[Found, ...]:
    """One more than the limit, so that it shows when there are too many."""
    return tuple(islice(found, limit + 1))


def _normalize(line: str) -> str:
    return " ".join(line.split())


def _price_reading(text: str) -> int:
    """What it costs to cut a text into lines and words."""
    return len(text) // _READ + (text.count("\n") + text.count("\r")) // _CUT


def _find_endings(text: str) -> list[str]:
    found = ["\r\n"] if "\r\n" in text else []
    lone = text.replace("\r\n", "")
    return found + [ending for ending in ("\n", "\r") if ending in lone]


class Replacement:
    """The new text of one edit. Each form of it is made once, for there may be very many
    places."""

    def __init__(self, edit: Edit, source: Original) -> None:
        self._edit = edit
        self._source = source
        self._speaks_of_cr = "\r" in edit.old or "\r" in edit.new
        self._list_forms: dict[tuple[bool, str, bool, Indentation], str] = {}

    def build_at(self, found: Found) -> str:
        """An edit that was found to the letter and itself speaks of CR is taken
        literally."""
        edit, text = self._edit, self._source.text
        if self._speaks_of_cr and text[found.start : found.end] == edit.old:
            return edit.new
        # If the file ends without a line end, it goes on doing so.
        lost = edit.old.endswith(_ENDS) and not text.endswith(_ENDS, 0, found.end)
        ending = self._source.get_ending(found.start, found.end)
        indentation = self._source.get_indentation(found, edit.old)
        # The file's own indentation of the first line is left standing before it.
        begun = found.start > self._source.lines.start(found.first)
        form = lost, ending, begun, indentation
        if form not in self._list_forms:
            self._list_forms[form] = self._build_form(*form)
        return self._list_forms[form]

    def _build_form(
        self, lost: bool, ending: str, begun: bool, indentation: Indentation
    ) -> str:
        edit = self._edit
        self._source.price_reading(edit.new)
        new = edit.new.replace("\r\n", "\n")
        new = indentation.apply(new, begun=begun)
        if lost:
            new = new.removesuffix("\n")
        return new if ending == "\n" else new.replace("\n", ending)
