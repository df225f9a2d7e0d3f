"""For any text whatever: nothing raises, nothing is lost, no two look the same."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.edits.changes import split_lines
from guidance.core.shell_commands import Part, Token
from safetext import (
    Mark,
    Segment,
    build_warnings,
    make_visible,
    make_visible_line,
    show_command,
    show_diff,
    show_path,
    show_text,
    split_pages,
    split_segments,
)
from safetext.colours import build_colours
from safetext.diffs.changed_words import find_changed_words
from safetext.diffs.parse import Row
from safetext.diffs.rows import DiffRow
from safetext.paging import PAGE
from safetext.pieces import PieceKind
from tests.guidance.core.edits.builders import whole_diff
from tests.safetext.markup import command_fragment, diff_fragment, text_fragment

# Lone surrogates too; and texts made of what matters here, long enough to be folded.
HARD = st.sampled_from(
    [
        *("a", "Z", "1", " ", "\t", "\n", "\r", "\r\n", "⟨", "⟩", "U+202E", "×", "〈"),
        *("\u202e", "\u200b", "\u0301", "\u00a0", "\u2028", "\ufe0f", "\ud800", "é"),
        *("\u0430", "\u03bf", "xn--", ".com", "/", "..", "@@ -1 +1 @@", "--- a/x"),
        *("\n" * 7, " " * 60, "\u200b" * 20, "\u0301" * 20, "ש", "\U000e0061", "\\"),
    ]
)
TEXTS = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(HARD, max_size=40).map("".join),
)
LINES = st.lists(
    st.sampled_from(
        [
            "a\n",
            "b\n",
            "+++ b/x\n",
            "--- a/x\n",
            "@@ -1 +1 @@\n",
            "\n",
            "\\ x\n",
            "c\r\n",
        ]
    ),
    max_size=30,
).map("".join)
LAST = st.sampled_from(["", "end", "-"])

# The first example of a kind loads what it needs; machines have other things to do.

_ESCAPE = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")


def read_back(shown: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), shown)


def unfold(segment: Segment) -> str:
    """What a reader can tell of a segment from the screen alone."""
    if segment.kind is not PieceKind.FOLD:
        return read_back(segment.shown)
    made = ""
    for run in segment.runs:
        count, rest = run.split(" × ", 1) if " × " in run else ("1", run)
        pieces = [piece.rpartition(" × ") for piece in re.split(r"(?<=⟩) ", rest)]
        one = "".join(
            read_back(character) * int(times.replace(",", "") or 1)
            for times, _, character in pieces
        )
        made += one * int(count.replace(",", ""))
    return made


@given(TEXTS)
def test_an_escape_can_be_read_back_so_no_two_texts_look_the_same(text: str) -> None:
    assert read_back(make_visible(text)) == text


@given(TEXTS)
def test_what_comes_out_is_printable(text: str) -> None:
    for character in make_visible(text):
        assert character in "\n\t" or character.isprintable()
    assert make_visible_line(text).isprintable()


@given(TEXTS, st.booleans())
def test_segments_join_to_the_text_and_tell_all_of_it(text: str, one: bool) -> None:
    shown = split_segments(text, one_line=one)
    assert "".join(part.raw for part in shown) == text
    assert "".join(map(unfold, shown)) == text
    assert all(part.raw for part in shown)


@given(TEXTS, st.data())
def test_marks_cover_exactly_what_they_were_given(
    text: str, data: st.DataObject
) -> None:
    edges = st.integers(-2, len(text) + 2)
    spans = data.draw(st.lists(st.tuples(edges, edges), max_size=4))
    marks = [
        Mark(start=start, end=end, label=str(index))
        for index, (start, end) in enumerate(spans)
    ]
    at = 0
    covered: dict[str, set[int]] = {mark.label: set() for mark in marks}
    for part in split_segments(text, marks=marks):
        for label in part.marks:
            covered[label] |= set(range(at, at + len(part.raw)))
        if part.kind is PieceKind.FOLD and part.marks:
            assert unfold(part) == part.raw
        at += len(part.raw)
    for mark in marks:
        assert covered[mark.label] == set(range(*_within(mark, text)))


def _within(mark: Mark, text: str) -> tuple[int, int]:
    return max(mark.start, 0), min(mark.end, len(text))


@given(TEXTS, st.integers(1, 900))
def test_pages_join_to_the_whole(text: str, times: int) -> None:
    long = text * times
    cut = split_pages(long)
    assert [start for start, _ in cut] == [0, *(end for _, end in cut[:-1])]
    assert cut[-1][1] == len(long)
    assert all(start < end for start, end in cut) or long == ""
    for start, end in cut:
        assert len(long[start:end].encode("utf-8", "surrogatepass")) <= PAGE


def content(row: DiffRow) -> str:
    """Its line, as the segments show it; a line end that all share is not shown."""
    line = row.raw[1:].removesuffix("\n")
    shown = "".join(part.raw for group in row.groups for part in group.segments)
    assert shown in (line, line.removesuffix("\r"))
    return line


def apply_rows(text: str, rows: list[DiffRow], *, out: Row, into: Row) -> str:
    """The other side of a diff: one kind of rows taken out, the other put in."""
    lines = split_lines(text)
    made: list[str] = []
    at = 0
    for row, behind in pairwise((*rows, None)):
        if row is None or not row.numbered:
            continue
        end = "" if behind and behind.kind is Row.UNENDED else "\n"
        number = row.old if out is Row.REMOVED else row.new
        if number is not None:
            made += lines[at : number - 1]
            assert lines[number - 1] == content(row) + end
            at = number
        if row.kind in (Row.CONTEXT, into):
            made.append(content(row) + end)
    return "".join(made + lines[at:])


@given(LINES, LAST, LINES, LAST)
def test_the_rows_of_a_diff_rebuild_both_sides(
    old: str, old_end: str, new: str, new_end: str
) -> None:
    before, after = old + old_end, new + new_end
    diff = whole_diff(before, after)
    rows = [row for file in show_diff(diff).files for row in file.rows]
    assert "".join(row.raw for row in rows) == diff
    assert apply_rows(before, rows, out=Row.REMOVED, into=Row.ADDED) == after
    assert apply_rows(after, rows, out=Row.ADDED, into=Row.REMOVED) == before


@given(TEXTS)
def test_nothing_raises_on_any_text(text: str) -> None:
    show_path(text)
    build_warnings(text)
    shown = show_diff(text)
    assert "".join(row.raw for file in shown.files for row in file.rows) == text
    diff_fragment(shown)
    token = Token(text=text, span=(0, len(text)), unresolved=False)
    part = Part(name=text, text=text, span=(0, len(text)), tokens=(token,), via=(text,))
    command_fragment(show_command(text, [part]))
    text_fragment(show_text(text, file_name="x.py"))


@given(TEXTS, TEXTS)
def test_without_the_changed_words_two_lines_are_the_same(old: str, new: str) -> None:
    gone, come = find_changed_words(old, new)
    if gone or come:
        assert _without(old, gone) == _without(new, come)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


@given(TEXTS, st.sampled_from(["x.py", "x.js", "x.html", "Makefile", "x.md", "x.none"]))
def test_colours_run_forwards_inside_the_text(text: str, name: str) -> None:
    at = 0
    for start, end, word in build_colours(text, file_name=name).spans:
        assert at <= start < end <= len(text)
        assert word.startswith("hl-")
        at = end
