"""What a diff changes besides lines: modes, links, submodules, binaries, endings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from safetext.diffs.changed_words import pair_lines
from safetext.diffs.parse import CONTENT, DiffLine, Row
from safetext.plain import make_visible_line

_LINK, _MODULE = "120000", "160000"
_MODE = re.compile(r"(old|new|deleted file|new file) mode (\d{6})$", re.ASCII)
_INDEX_MODE = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$", re.ASCII)
_KINDS = {
    _LINK: "a symbolic link",
    _MODULE: "a submodule (a commit of another repository)",
}


def build_notes(diff: str, lines: Sequence[DiffLine]) -> tuple[str, ...]:
    """Sentences about the lines of one file."""
    headers = [diff[line.start : line.end] for line in lines if line.kind is Row.HEADER]
    return (
        *_describe_modes(headers),
        *_describe_names(headers),
        *_describe_endings(diff, lines),
        *_describe_shape(lines),
    )


def _describe_modes(headers: Sequence[str]) -> Iterator[str]:
    modes = {found[1]: found[2] for found in map(_MODE.match, headers) if found}
    kept = [found[1] for found in map(_INDEX_MODE.match, headers) if found]
    for mode in dict.fromkeys((*modes.values(), *kept)):
        if mode in _KINDS:
            yield f"This is {_KINDS[mode]}, not a plain file."
    if "new file" in modes:
        yield f"A new file is made, mode {modes['new file']}."
    if "deleted file" in modes:
        yield f"The file is deleted, mode {modes['deleted file']}."
    if "old" in modes and "new" in modes:
        said = f"The file's mode changes from {modes['old']} to {modes['new']}"
        runs = not _is_executable(modes["old"]) and _is_executable(modes["new"])
        yield f"{said}: it can be run from then on." if runs else f"{said}."
    if any(line.startswith(("Binary files ", "GIT binary patch")) for line in headers):
        yield "A binary file changes: its content cannot be inspected."


def _is_executable(mode: str) -> bool:
    return mode.startswith("100") and int(mode, 8) & 0o111 != 0


def _describe_names(headers: Sequence[str]) -> Iterator[str]:
    for word, did in (("rename", "renamed"), ("copy", "copied")):
        ends = [
            line.removeprefix(f"{word} {end} ")
            for end in ("from", "to")
            for line in headers
            if line.startswith(f"{word} {end} ")
        ]
        if len(ends) == 2:
            old, new = map(make_visible_line, ends)
            yield f"The file is {did} from {old} to {new}."


def is_all_crlf(diff: str, lines: Sequence[DiffLine]) -> bool:
    """Whether every line of content ends with CRLF."""
    content = [line for line in lines if line.kind in CONTENT]
    return bool(content) and all(_ends_with_return(diff, line) for line in content)


def _describe_endings(diff: str, lines: Sequence[DiffLine]) -> Iterator[str]:
    if is_all_crlf(diff, lines):
        yield "All lines shown end with CRLF."
    changes = {(False, True): "LF to CRLF", (True, False): "CRLF to LF"}
    for (before, after), said in changes.items():
        count = sum(
            _strip_ending(diff, lines[old]) == _strip_ending(diff, lines[new])
            and (
                _ends_with_return(diff, lines[old]),
                _ends_with_return(diff, lines[new]),
            )
            == (before, after)
            for old, new in pair_lines(lines)
        )
        if count:
            some = (
                "1 line changes its" if count == 1 else f"{count:,} lines change their"
            )
            yield f"{some} ending from {said} and nothing else."
    unended = {
        before.kind for before, line in pairwise(lines) if line.kind is Row.UNENDED
    }
    if unended == {Row.ADDED}:
        yield "The new text has no newline at its end."
    elif unended == {Row.REMOVED}:
        yield "The old text has no newline at its end; the new one has."
    elif unended:
        yield "The text has no newline at its end."


def _ends_with_return(diff: str, line: DiffLine) -> bool:
    return diff.endswith("\r", line.text_start, line.end)


def _strip_ending(diff: str, line: DiffLine) -> str:
    return diff[line.text_start : line.end].removesuffix("\r")


def _describe_shape(lines: Sequence[DiffLine]) -> Iterator[str]:
    outside = sum(line.kind is Row.OTHER for line in lines)
    if outside:
        some = "1 line stands" if outside == 1 else f"{outside:,} lines stand"
        yield f"{some} outside of what the diff says it changes."
