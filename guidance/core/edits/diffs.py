"""What changed, in lines: counts, and the unified diff that a person reads.

Lines end with LF here, as in every unified diff; a CR is part of its line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from rapidfuzz.distance import Indel

CONTEXT = 3
# Where one part of a change has more pairs of lines than this, it is shown as taken out
# and put in as a whole.
_PAIRS = 25_000_000


class Change(NamedTuple):
    """Lines `old` to `old_end` of the one text became `new` to `new_end` of the other."""

    old: int
    old_end: int
    new: int
    new_end: int


def split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """The fewest lines to take out and put in."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    most = min(len(old), len(new)) - head
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old) * len(new) > _PAIRS:
        yield Change(head, head + len(old), head, head + len(new))
        return
    # Numbers for lines: the same in every process, as their hashes are not.
    numbers: dict[str, int] = {}
    one = [numbers.setdefault(line, len(numbers)) for line in old]
    other = [numbers.setdefault(line, len(numbers)) for line in new]
    pending: Change | None = None
    for step in Indel.opcodes(one, other):
        if step.tag == "equal":
            if pending is not None:
                yield pending
            pending = None
            continue
        start = pending or Change(head + step.src_start, 0, head + step.dest_start, 0)
        pending = start._replace(
            old_end=head + step.src_end, new_end=head + step.dest_end
        )
    if pending is not None:
        yield pending


def line_changes(
    old: Sequence[str], new: Sequence[str], spans: Sequence[Change]
) -> list[Change]:
    """The same for a text of which is known where its characters changed."""
    old_starts, new_starts = _starts(old), _starts(new)
    regions: list[Change] = []
    for span in spans:
        # Up to and with the line behind the change: its rest is the same in both.
        region = Change(
            _line(old_starts, span.old),
            _line(old_starts, span.old_end) + 1,
            _line(new_starts, span.new),
            _line(new_starts, span.new_end) + 1,
        )
        if regions and region.old < regions[-1].old_end:
            last = regions.pop()
            region = Change(last.old, region.old_end, last.new, region.new_end)
        regions.append(region)
    made: list[Change] = []
    for at_old, old_end, at_new, new_end in regions:
        part = changes(old[at_old:old_end], new[at_new:new_end])
        for change in part:
            place = Change(
                change.old + at_old,
                change.old_end + at_old,
                change.new + at_new,
                change.new_end + at_new,
            )
            if made and (made[-1].old_end, made[-1].new_end) == (place.old, place.new):
                place = Change(made[-1].old, place.old_end, made[-1].new, place.new_end)
                made.pop()
            made.append(place)
    return made


def _starts(lines: Sequence[str]) -> list[int]:
    """Where lines begin; behind a last line end there is room for one more."""
    starts = [*accumulate(map(len, lines), initial=0)]
    if lines and not lines[-1].endswith("\n"):
        starts.pop()
    return starts


def _line(starts: Sequence[int], at: int) -> int:
    return bisect_right(starts, at) - 1


def unified(
    old: Sequence[str], new: Sequence[str], made: Sequence[Change], *, name: str
) -> str:
    """The unified diff of the changes, empty when there are none."""
    if not made:
        return ""
    shown = _shown_name(name)
    parts = [f"--- a/{shown}\n+++ b/{shown}\n"]
    hunk: list[Change] = []
    for change in made:
        if hunk and change.old - hunk[-1].old_end > 2 * CONTEXT:
            parts += _hunk(old, new, hunk)
            hunk = []
        hunk.append(change)
    parts += _hunk(old, new, hunk)
    return "".join(parts)


def _hunk(old: Sequence[str], new: Sequence[str], hunk: Sequence[Change]) -> list[str]:
    first, last = hunk[0], hunk[-1]
    before = min(CONTEXT, first.old)
    after = min(CONTEXT, len(old) - last.old_end)
    here = _range(first.old - before, last.old_end + after)
    there = _range(first.new - before, last.new_end + after)
    rows = [f"@@ -{here} +{there} @@\n"]
    position = first.old - before
    for change in hunk:
        rows.append(_rows(" ", old[position : change.old]))
        rows.append(_rows("-", old[change.old : change.old_end]))
        rows.append(_rows("+", new[change.new : change.new_end]))
        position = change.old_end
    rows.append(_rows(" ", old[position : position + after]))
    return rows


def _rows(sign: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    text = "".join(lines)
    rows = sign + text.removesuffix("\n").replace("\n", f"\n{sign}")
    # Only the last line of a file may be without its end.
    ending = "\n" if text.endswith("\n") else "\n\\ No newline at end of file\n"
    return rows + ending


def _range(start: int, end: int) -> str:
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


def _shown_name(name: str) -> str:
    """A name on one line: what could end the line or hide is written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in name
    )
