"""The file's own indentation, put in the place of the one that an edit is written with.

An edit that was found by its lines whatever their white space shows how it indents what
the file indents: those lines say what its new lines become.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_BLANKS = " \t"
_TAB = "\t"
# Fewer blanks are no level of their own: the lines were copied without some of them.
_LEAST = 3


class Indentation(NamedTuple):
    """The indentation of the edit and of the file, and one level of each where it is told."""

    levels: tuple[tuple[str, str], ...] = ()
    unit: tuple[str, str] | None = None

    def apply(self, new: str, *, begun: bool) -> str:
        """The text with the file's indentation; `begun` if its first line stands behind
        the file's own already."""
        if not self.levels:
            return new
        levels = dict(self.levels)
        lines = new.split("\n")
        done = [self._apply_levels(line, levels) for line in lines]
        if begun:
            given = get_indentation(lines[0])
            done[0] = self.convert(given) + lines[0][len(given) :]
        return "\n".join(done)

    def _apply_levels(self, line: str, levels: Mapping[str, str]) -> str:
        given = get_indentation(line)
        if len(given) == len(line):
            return line
        length = len(given)
        while length and given[:length] not in levels:
            length -= 1
        known = levels.get(given[:length], "")
        return f"{known}{self.convert(given[length:])}{line[len(given) :]}"

    def convert(self, blanks: str) -> str:
        """Convert what is indented further, level by level."""
        if self.unit is None:
            return blanks
        theirs, own = self.unit
        count = len(blanks) // len(theirs)
        if not blanks.startswith(theirs * count):
            return blanks
        return own * count + blanks[len(theirs) * count :]


def compare_indentation(given: Sequence[str], own: Sequence[str]) -> Indentation:
    """Compare the lines of an edit with those of the file that they stand for."""
    pairs = [
        (get_indentation(one), get_indentation(other))
        for one, other in zip(given, own, strict=True)
        if one.strip()
    ]
    if pairs and not pairs[0][0] and _continue_alone(pairs[1:]):
        # It was copied from behind the indentation of its first line, and only there.
        pairs = pairs[1:]
    if all(one == other for one, other in pairs):
        return Indentation()
    levels: dict[str, str] = {}
    for one, other in pairs:
        levels.setdefault(one, other)
    told = [(one, other) for one, other in levels.items() if one or other]
    return Indentation(tuple(levels.items()), _find_unit([*_compare(levels), *told]))


def get_indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(_BLANKS))]


def _continue_alone(pairs: Sequence[tuple[str, str]]) -> bool:
    """Do these lines say how they are indented without the line before them?"""
    pairs = [(one, other) for one, other in pairs if one]
    unit = _find_unit(pairs)
    if unit is not None and len(max(unit, key=len)) < _LEAST:
        return False
    comes_to = Indentation(unit=unit).convert
    return any(comes_to(one) == other for one, other in pairs)


def _compare(levels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """List how much further each is indented than the one that is indented least."""
    least = min(levels, key=len)
    for one, other in levels.items():
        if one != least and one.startswith(least) and other.startswith(levels[least]):
            yield one[len(least) :], other[len(levels[least]) :]


def _find_unit(pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """One level, where one of them indents by tabs and the other by blanks."""
    for one, other in pairs:
        tabs, blanks = (one, other) if one[:1] == _TAB else (other, one)
        if not tabs or not blanks or tabs.strip(_TAB) or blanks.strip(" "):
            continue
        width, rest = divmod(len(blanks), len(tabs))
        if width and not rest:
            level = " " * width
            return (_TAB, level) if tabs is one else (level, _TAB)
    return None
