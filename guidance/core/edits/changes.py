"""What changed between two texts, in lines, and how many lines are too many.

Lines end with LF here, as in every unified diff; a CR is part of its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Indel

from guidance.core.edits.edit import Edit
from guidance.core.effort import Effort

DIFF_LIMIT = 300
# Pairs of lines compared in a microsecond: where lines are known by small numbers, and
# where each number has to be looked up, which a caller can make slow.
_COMPARED = 20_000
_LOOKED_UP = 400
_SMALL = 256
# What comparing may cost where nobody says what can be afforded.
_MOST = 20_000

Affords = Callable[[int], bool]


class ChangedRange(NamedTuple):
    """Lines `old` to `old_end` of the one text became `new` to `new_end` of the other."""

    old: int
    old_end: int
    new: int
    new_end: int


def split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def find_changes(
    old: Sequence[str],
    new: Sequence[str],
    *,
    affords: Affords = lambda price: price <= _MOST,
) -> Iterator[ChangedRange]:
    """The fewest lines to take out and put in. Where comparing costs too much, all are
    taken out and put in as a whole."""
    head = _count_shared(old, new)
    old, new = old[head:], new[head:]
    tail = _count_shared(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    pairs = len(old) * len(new)
    if pairs < 2:
        if old or new:
            yield ChangedRange(head, head + len(old), head, head + len(new))
        return
    # Numbers for the lines of both, the same in every process, as their hashes are not;
    # a line of one side alone is like no other.
    both = set(old).intersection(new)
    shared = (line for line in dict.fromkeys(old) if line in both)
    numbers = {line: number for number, line in enumerate(shared, 2)}
    price = pairs // (_COMPARED if len(both) + 2 <= _SMALL else _LOOKED_UP)
    if not affords(price):
        yield ChangedRange(head, head + len(old), head, head + len(new))
        return
    one = [numbers.get(line, 0) for line in old]
    other = [numbers.get(line, 1) for line in new]
    pending: ChangedRange | None = None
    for step in Indel.opcodes(one, other):
        if step.tag == "equal":
            if pending is not None:
                yield pending
            pending = None
            continue
        start = pending or ChangedRange(
            head + step.src_start, 0, head + step.dest_start, 0
        )
        pending = start._replace(
            old_end=head + step.src_end, new_end=head + step.dest_end
        )
    if pending is not None:
        yield pending


def _count_shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of the first lines are the same."""
    pairs = zip(one, other, strict=False)
    differ = (number for number, (a, b) in enumerate(pairs) if a != b)
    return next(differ, min(len(one), len(other)))


def count_diff_lines(content: str, *, original: str | None = None) -> int:
    """Lines put in and taken out; without the original every line counts as put in."""
    if original is None:
        return content.count("\n") + (content[-1:] not in ("", "\n"))
    made = find_changes(split_lines(original), split_lines(content))
    return sum(
        change.old_end - change.old + change.new_end - change.new for change in made
    )


def count_edited_lines(edits: Iterable[Edit]) -> tuple[int, int]:
    """Lines put in and taken out by edits of a text that is not known, each in one place."""
    effort = Effort(_MOST)
    added = removed = 0
    for edit in edits:
        old, new = split_lines(edit.old), split_lines(edit.new)
        for change in find_changes(
            old, new, affords=lambda price: effort.spend_if_spare(price, keep=0)
        ):
            added += change.new_end - change.new
            removed += change.old_end - change.old
    return added, removed


def describe_oversized(lines: int, *, limit: int = DIFF_LIMIT) -> str | None:
    """What to say about a change that is larger than the limit, None if it is not."""
    if lines <= limit:
        return None
    return (
        f"The change has {lines:,} lines, over the limit of {limit:,}: "
        "split it into stages that can be read and tested one by one"
    )
