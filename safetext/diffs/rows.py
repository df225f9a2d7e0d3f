"""A diff as a reviewer sees it: rows with both line numbers, changed words, colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from safetext.diffs.changed_words import Spans, find_changed_words, pair_lines
from safetext.diffs.colours import build_side_colours
from safetext.diffs.notes import build_notes, is_all_crlf
from safetext.diffs.parse import CONTENT, DiffLine, Row, read_diff
from safetext.marks import Layer, Mark, cut_marks
from safetext.segments import split_segments
from safetext.texts import Group, Page, cut_layer, group_segments
from safetext.warnings import build_warnings

_WORDS = {Row.REMOVED: "removed", Row.ADDED: "added"}
_SIGNS = {Row.REMOVED: "-", Row.ADDED: "+"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """`skipped` counts the unchanged lines between a hunk and the one before it.

    `silent` rows say nothing that their file's name does not.
    """

    kind: Row
    old: int | None
    new: int | None
    groups: tuple[Group, ...]
    raw: str
    skipped: int = 0
    silent: bool = False

    @property
    def numbered(self) -> bool:
        return self.kind in CONTENT

    @property
    def sign(self) -> str:
        return _SIGNS.get(self.kind, "")

    @property
    def gap(self) -> str:
        if not self.skipped:
            return ""
        lines = "line" if self.skipped == 1 else "lines"
        return f"{self.skipped:,} unchanged {lines} above not shown"

    @property
    def said(self) -> str:
        """The sign for those who do not see it."""
        return _WORDS.get(self.kind, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    """Named as the diff itself does; the counts are of the whole diff, not a page."""

    name: tuple[Group, ...]
    added: int
    removed: int
    notes: tuple[str, ...]
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiff:
    files: tuple[DiffFile, ...]
    warnings: tuple[str, ...]
    added: int
    removed: int


def show_diff(
    diff: str,
    *,
    file_name: str = "",
    marks: Sequence[Mark] = (),
    page: Page | None = None,
) -> ShownDiff:
    """One page of a diff, or all of it. Colours go by the name, or by the diff's own."""
    lines = read_diff(diff)
    start, end = page or (0, len(diff))
    files = [
        _build_file(diff, [*part], name=file_name, marks=marks, page=(start, end))
        for _, part in groupby(lines, key=lambda line: line.file)
    ]
    warnings = list(build_warnings(diff))
    if diff and not any(line.kind in (Row.HUNK, Row.HEADER) for line in lines):
        warnings.insert(0, "This is no unified diff; it is shown as it stands.")
    return ShownDiff(
        files=tuple(file for file in files if file.rows),
        warnings=tuple(warnings),
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileLayers:
    """What the rows of one file share: layers by where a line's text begins."""

    colours: dict[int, list[tuple[int, int, str]]]
    changed: dict[int, Spans]
    crlf: bool
    plain: bool
    marks: Sequence[Mark]

    def build_layers(self, line: DiffLine, start: int, end: int) -> list[Layer]:
        at = line.text_start
        words = [(first, last, "changed") for first, last in self.changed.get(at, ())]
        return [
            cut_layer(Layer(spans=self.colours.get(at, ())), start, end),
            cut_layer(Layer(spans=words, firm=True), start, end),
        ]


def _build_file(
    diff: str,
    lines: list[DiffLine],
    *,
    name: str,
    marks: Sequence[Mark],
    page: Page,
) -> DiffFile:
    own = _get_own_name(diff, lines)
    look = _FileLayers(
        colours=build_side_colours(diff, lines, file_name=name or own),
        changed=_find_changes(diff, lines, page),
        crlf=is_all_crlf(diff, lines),
        plain=_is_plainly_named(diff, lines, own),
        marks=marks,
    )
    rows = (
        _build_row(diff, line, look, page, skipped=skipped)
        for line, skipped in _count_gaps(lines)
        if _is_on_page(diff, line, page)
    )
    return DiffFile(
        name=group_segments(split_segments(own or name, one_line=True)),
        added=sum(line.kind is Row.ADDED for line in lines),
        removed=sum(line.kind is Row.REMOVED for line in lines),
        notes=build_notes(diff, lines),
        rows=tuple(rows),
    )


def _is_plainly_named(diff: str, lines: Sequence[DiffLine], name: str) -> bool:
    """The only headers are the two that name the file, by the same name."""
    headers = [diff[line.start : line.end] for line in lines if line.kind is Row.HEADER]
    return headers == [f"--- a/{name}", f"+++ b/{name}"]


def _find_changes(diff: str, lines: Sequence[DiffLine], page: Page) -> dict[int, Spans]:
    """The changed words of each line on the page, by where its text begins."""
    found: dict[int, Spans] = {}
    for before, after in pair_lines(lines):
        old, new = lines[before], lines[after]
        if not (_is_on_page(diff, old, page) or _is_on_page(diff, new, page)):
            continue
        found[old.text_start], found[new.text_start] = find_changed_words(
            diff[old.text_start : old.end], diff[new.text_start : new.end]
        )
    return found


def _get_own_name(diff: str, lines: Sequence[DiffLine]) -> str:
    """The new name, or the old one of a file that is deleted."""
    headers = [diff[line.start : line.end] for line in lines if line.kind is Row.HEADER]
    for sign, side in (("+++ ", "b/"), ("--- ", "a/")):
        for header in headers:
            name = header.removeprefix(sign).split("\t")[0]
            if header.startswith(sign) and name != "/dev/null":
                return name.removeprefix(side)
    # Without changed lines only git's own header names the file, twice.
    both = next((line[11:] for line in headers if line.startswith("diff --git ")), "")
    half = both[: len(both) // 2].removeprefix("a/")
    return half if both == f"a/{half} b/{half}" else both


def _is_on_page(diff: str, line: DiffLine, page: Page) -> bool:
    """With its line end, so that an empty line stands on a page as well."""
    return line.start < page[1] and min(line.end + 1, len(diff)) > page[0]


def _count_gaps(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine, int]]:
    reached = 1
    for line in lines:
        skipped = 0
        if line.kind is Row.HUNK and line.old is not None:
            # A hunk that takes nothing out names the line before it.
            skipped = max(line.old - reached, 0)
        elif line.old is not None:
            reached = line.old + 1
        yield line, skipped


def _build_row(
    diff: str, line: DiffLine, look: _FileLayers, page: Page, *, skipped: int
) -> DiffRow:
    start = max(line.text_start, page[0])
    end = max(start, min(line.end, page[1]))
    if look.crlf and line.kind in CONTENT and diff.endswith("\r", start, end):
        end -= 1
    text = diff[start:end]
    shown = split_segments(
        text,
        marks=cut_marks(text, look.marks, at=start),
        layers=look.build_layers(line, start - line.text_start, end - line.text_start),
    )
    numbered = line.kind is not Row.HUNK
    return DiffRow(
        kind=line.kind,
        old=line.old if numbered else None,
        new=line.new if numbered else None,
        groups=group_segments(shown),
        raw=diff[max(line.start, page[0]) : min(line.end + 1, page[1])],
        skipped=skipped,
        silent=look.plain and line.kind is Row.HEADER,
    )
