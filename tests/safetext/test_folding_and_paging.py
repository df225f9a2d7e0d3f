"""Nothing pushes a payload out of sight: blanks are folded, long texts come in pages."""

from __future__ import annotations

from safetext import Mark, build_warnings, show_text, split_pages, split_segments
from safetext.folding import count_escapes
from safetext.paging import ESCAPES, PAGE, ROWS, count_rows
from safetext.pieces import PieceKind
from tests.support.rows import each_row


def test_m42_thousands_of_newlines_then_a_payload() -> None:
    fold, payload = split_segments("\n" * 5000 + "rm -rf /")
    assert (fold.kind, fold.shown) == (PieceKind.FOLD, "⟨5,000 blank lines⟩")
    assert fold.runs == ("5,000 × ⟨U+000A⟩",)
    assert payload.shown == "rm -rf /"
    lines = show_text("\n" * 5000 + "rm -rf /").lines
    assert [line.number for line in lines] == ["1", "5001"]
    assert build_warnings("\n" * 5000 + "x") == (
        "More text follows behind 5,000 blank lines.",
    )


def test_m42_blank_lines_with_spaces_in_them() -> None:
    name, _, fold, payload = split_segments("ls\n" + " \t\n" * 10 + "\n" * 3 + "rm")
    assert fold.shown == "⟨13 blank lines⟩"
    assert fold.runs == (
        "10 × 1 × ⟨U+0020⟩ 1 × ⟨U+0009⟩ ⟨U+000A⟩",
        "3 × ⟨U+000A⟩",
    )
    assert (name.shown, payload.shown) == ("ls", "rm")


@each_row(
    ("blank", "label"),
    [
        (" " * 4000, "⟨4,000 spaces⟩"),
        ("\t" * 4000, "⟨4,000 tabs⟩"),
        ("\u2003" * 4000, "⟨4,000 × U+2003 EM SPACE⟩"),
        (" \u00a0" * 2000, "⟨4,000 blank characters⟩"),
        ("\u200b" * 4000, "⟨4,000 × U+200B ZERO WIDTH SPACE⟩"),
    ],
)
def test_m43_thousands_of_spaces_then_a_payload(blank: str, label: str) -> None:
    command, fold, payload = split_segments(f"ls{blank}; payload")
    assert (command.shown, fold.shown, payload.shown) == ("ls", label, "; payload")


def test_different_characters_without_width_are_all_written_out() -> None:
    shown = split_segments("\u200b\u200c" * 40)
    assert {part.kind for part in shown} == {PieceKind.ESCAPE}


def test_a_fold_hides_nothing_that_is_marked() -> None:
    text = "a" + " " * 200 + "b"
    shown = split_segments(text, marks=[Mark(start=100, end=110, label="look")])
    assert [(part.kind, len(part.raw), part.marks) for part in shown] == [
        (PieceKind.PLAIN, 1, ()),
        (PieceKind.FOLD, 99, ()),
        (PieceKind.PLAIN, 10, ("look",)),
        (PieceKind.FOLD, 91, ()),
        (PieceKind.PLAIN, 1, ()),
    ]


@each_row(
    ("run", "label"),
    [
        (" " * 200, "⟨200 spaces⟩"),
        ("\r" * 200, "⟨200 × U+000D CARRIAGE RETURN⟩"),
        ("\u200d" * 200, "⟨200 × U+200D ZERO WIDTH JOINER⟩"),
    ],
    ids=ascii,
)
def test_a_long_run_under_a_mark_is_one_fold_that_is_marked(
    run: str, label: str
) -> None:
    shown = split_segments(f"a{run}b", marks=[Mark(start=0, end=202, label="look")])
    assert [part.shown for part in shown] == ["a", label, "b"]
    assert "".join(part.raw for part in shown) == f"a{run}b"
    assert {part.marks for part in shown} == {("look",)}


def test_ordinary_gaps_stay_as_they_are() -> None:
    text = "def f():\n\n\n    return 1" + " " * 40 + "# why\n"
    assert PieceKind.FOLD not in {part.kind for part in split_segments(text)}


def test_m44_a_long_command_comes_in_pages_and_none_is_lost() -> None:
    text = "echo harmless && " * 6000 + "rm -rf / ;" + "echo harmless && " * 6000
    cut = split_pages(text)
    assert len(cut) > len(text) // PAGE
    assert "".join(text[start:end] for start, end in cut) == text
    served = [
        "".join(part.raw for group in line.groups for part in group.segments)
        for page in cut
        for line in show_text(text, page=page).lines
    ]
    assert "".join(served) == text
    assert any("rm -rf /" in part for part in served)


def test_every_page_warns_of_what_stands_on_any_other() -> None:
    text = "echo harmless\n" * 6000 + "rm\u200b -rf /\n" + "echo harmless\n" * 6000
    (warning,) = build_warnings(text)
    cut = split_pages(text)
    assert len(cut) > 2
    assert {show_text(text, page=page).warnings for page in cut} == {(warning,)}


def test_m44_pages_end_with_lines_and_numbers_go_on() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 5001))
    cut = split_pages(text)
    assert all(text[end - 1] == "\n" for _, end in cut)
    shown = [line for page in cut for line in show_text(text, page=page).lines]
    assert [line.number for line in shown] == [str(n) for n in range(1, 5002)]
    assert shown[2500].plain == "line 2501"


def test_m44_pages_are_counted_in_bytes_and_keep_marks_with_their_letters() -> None:
    text = "e\u0301" * PAGE
    cut = split_pages(text)
    assert all(text[start] == "e" for start, _ in cut)
    assert all(len(text[start:end].encode()) <= PAGE for start, end in cut)


def test_m44_marks_stand_on_the_page_they_belong_to() -> None:
    text = "a" * PAGE + "b" * PAGE
    mark = Mark(start=PAGE - 2, end=PAGE + 2, label="look")
    marked = [
        "".join(
            part.raw
            for line in show_text(text, marks=[mark], page=page).lines
            for group in line.groups
            if group.marks
            for part in group.segments
        )
        for page in split_pages(text)
    ]
    assert marked == ["aa", "bb"]


@each_row("line", ["x", "", " ", "\t\u2003"], ids=ascii)
def test_a_page_has_no_more_rows_than_a_browser_lays_out_at_once(line: str) -> None:
    text = f"{line}\n{line}.\n" * 3_000 + f"{line}\n" * 5_000
    cut = split_pages(text)
    assert "".join(text[start:end] for start, end in cut) == text
    for start, end in cut:
        assert count_rows(text[start:end]) <= ROWS + 1
        assert len(show_text(text, page=(start, end)).lines) <= ROWS + 1


@each_row(
    "text",
    [
        "\r\a" * 20_000,
        "\u200d\u200c" * 20_000,
        ("\r" * 48 + "x") * 2_000,
        ("\r" * 100 + "x") * 2_000,
        "\r" * 100_000,
        "\u1ab0\u1ab1" * 20_000,
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_a_page_has_no_more_escapes_than_a_browser_lays_out_at_once(
    text: str,
) -> None:
    cut = split_pages(text)
    assert "".join(text[start:end] for start, end in cut) == text
    for start, end in cut:
        assert count_escapes(text[start:end]) <= ESCAPES
        parts = split_segments(
            text[start:end], marks=[Mark(start=0, end=end - start, label="look")]
        )
        assert sum(part.kind is PieceKind.ESCAPE for part in parts) <= ESCAPES


@each_row("line", ["\n", "\r\n", " \r\n", "\u2028\n"], ids=ascii)
def test_blank_lines_take_as_few_pages_whatever_stands_in_them(line: str) -> None:
    """They are folded into one row, so that their escapes do not count."""
    text = "ls" + line * 20_000 + "rm"
    assert len(split_pages(text)) <= len(text.encode()) // PAGE + 1


def test_different_blank_lines_count_with_all_their_escapes() -> None:
    """Each of them is written out where the fold is opened."""
    text = "".join("\r" * (number % 7) + "\n" for number in range(4_000))
    for start, end in split_pages(text):
        assert text[start:end].count("\r") <= ESCAPES


def test_there_is_always_a_page() -> None:
    assert split_pages("") == [(0, 0)]
    assert show_text("").empty
