"""A patch in the form of Codex: the files that it names, each with its own lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

BEGIN, END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"^\*\*\* (?P<verb>Add|Update|Delete) File: (?P<path>.+)$")
_FILES = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
# What may stand among the lines of a file beside them.
_WITHIN = ("*** End of File", "*** Move to: ")
_SIGNS = {"Add": ("+",), "Update": ("+", "-", " ", "@@"), "Delete": ()}
_TOLD = {
    "Add": "in a new file every line begins with +",
    "Update": "a line begins with +, - or a blank, a new place with @@",
    "Delete": "a file that is deleted has no lines here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file; `lines` end with a line end, if there are any."""

    verb: str
    path: str
    lines: str

    @property
    def header(self) -> str:
        return f"*** {self.verb} File: {self.path}"


def list_patched_files(patch: str) -> list[str]:
    return _FILES.findall(patch)


def count_patched_lines(patch: str) -> int:
    return sum(line[:1] in {"+", "-"} for line in patch.splitlines())


def split_patch(patch: str) -> tuple[FilePatch, ...] | None:
    """The files of a patch; None where it does not come together again to the letter."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in patch.split("\n")[1:]:
        if line == END:
            break
        begins = _FILE.match(line)
        if begins:
            found.append((begins, []))
        elif found:
            found[-1][1].append(f"{line}\n")
    files = tuple(
        FilePatch(verb=begins["verb"], path=begins["path"], lines="".join(lines))
        for begins, lines in found
    )
    whole = join_patch(files)
    return files if files and patch in (whole, whole.rstrip("\n")) else None


def join_patch(files: Iterable[FilePatch]) -> str:
    parts = [f"{each.header}\n{each.lines}" for each in files]
    return f"{BEGIN}\n{''.join(parts)}{END}\n"


def find_line_problem(verb: str, lines: str) -> str | None:
    """The first line that cannot stand among those of a file; None where all can."""
    for number, line in enumerate(lines.split("\n"), start=1):
        if line.startswith("*** ") and not line.startswith(_WITHIN):
            return f"line {number} would begin something else: {line[:40]}"
        if line and not line.startswith((*_SIGNS[verb], *_WITHIN)):
            return f"line {number}: {_TOLD[verb]}"
    return None
