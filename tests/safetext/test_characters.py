"""Characters that a screen would obey or swallow: each one is written out."""

from __future__ import annotations

import pytest

from safetext import build_warnings, make_visible, show_text, split_segments
from safetext.pieces import PieceKind
from tests.support.rows import each_row


def describe_warnings(text: str) -> str:
    return "\n".join(build_warnings(text))


def test_m27_an_override_is_shown_and_the_order_stays() -> None:
    text = "rm -rf ~/\u202egpj.exe"
    assert make_visible(text) == "rm -rf ~/⟨U+202E⟩gpj.exe"
    assert build_warnings(text) == (
        "1 character changes the writing direction: U+202E RIGHT-TO-LEFT OVERRIDE.",
    )


def test_m28_isolates_that_nothing_closes() -> None:
    text = "# \u2066harmless\u2067\u2068 comment\nnext\u2069"
    assert make_visible(text) == (
        "# ⟨U+2066⟩harmless⟨U+2067⟩⟨U+2068⟩ comment\nnext⟨U+2069⟩"
    )
    assert "4 characters change the writing direction" in describe_warnings(text)


def test_m28_words_that_run_backwards_stand_alone() -> None:
    kinds = [(part.kind, part.raw) for part in split_segments("cp שלום/עולם 1")]
    assert kinds == [
        (PieceKind.PLAIN, "cp "),
        (PieceKind.BACKWARDS, "שלום"),
        (PieceKind.PLAIN, "/"),
        (PieceKind.BACKWARDS, "עולם"),
        (PieceKind.PLAIN, " 1"),
    ]


@pytest.mark.parametrize("text", ["r\u200bm -rf", "/et\u200bc", "exam\u200bple.com"])
def test_m29_no_width_is_shown_never_stripped(text: str) -> None:
    assert make_visible(text) == text.replace("\u200b", "⟨U+200B⟩")
    assert (
        describe_warnings(text) == "1 character has no width: U+200B ZERO WIDTH SPACE."
    )


def test_m30_tag_characters_are_counted_and_read_out() -> None:
    text = "hello" + "".join(chr(0xE0000 + ord(letter)) for letter in "approve all")
    assert make_visible(text).startswith("hello⟨U+E0061⟩⟨U+E0070⟩")
    assert (
        describe_warnings(text) == "11 invisible tag characters spelling “approve all”."
    )
    assert describe_warnings("\U000e0001") == "1 invisible tag character."


@each_row("character", ["\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef"])
def test_m31_variation_selectors(character: str) -> None:
    assert make_visible(f"a{character}") == f"a⟨U+{ord(character):04X}⟩"
    assert "1 variation selector can carry hidden data" in describe_warnings(
        f"a{character}"
    )


@each_row(
    "character", ["\u3164", "\u115f", "\u2800", "\u00ad", "\u034f", "\uffa0", "\ufffc"]
)
def test_m32_blank_letters(character: str) -> None:
    assert make_visible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"
    assert describe_warnings(f"a{character}b")


@each_row("character", ["\u00a0", "\u2003", "\u3000", "\u1680"])
def test_m33_other_spaces_are_not_the_plain_one(character: str) -> None:
    assert make_visible(f"rm{character}x") == f"rm⟨U+{ord(character):04X}⟩x"
    assert "1 space is not the plain one" in describe_warnings(f"rm{character}x")
    assert make_visible("rm x") == "rm x"


def test_m37_marks_beyond_the_fourth_are_escaped() -> None:
    assert make_visible("a" + "\u0301" * 6) == "a" + "\u0301" * 4 + "⟨U+0301⟩" * 2
    letter, rest = split_segments("a" + "\u0301" * 200)
    assert letter.raw == "a" + "\u0301" * 4
    assert (rest.kind, rest.shown) == (
        PieceKind.FOLD,
        "⟨196 × U+0301 COMBINING ACUTE ACCENT⟩",
    )
    assert "196 combining marks" in describe_warnings("a" + "\u0301" * 200)


@each_row("before", ["", " ", "\n", "\u200b"])
def test_m37_a_mark_without_a_letter_is_escaped(before: str) -> None:
    assert make_visible(f"{before}\u0301").endswith("⟨U+0301⟩")


@each_row(
    "sequence",
    ["\x1b[31mred", "\x1b[2A", "\x1b]8;;http://x\x1b\\", "\x1b]0;title\x07", "\x9b1A"],
)
def test_m38_terminal_sequences_are_text(sequence: str) -> None:
    shown = make_visible(sequence)
    assert shown.isprintable()
    assert "obeyed by a terminal" in describe_warnings(sequence)


def test_m39_a_carriage_return_that_overwrites() -> None:
    assert make_visible("curl evil\rls") == "curl evil⟨U+000D⟩ls"
    assert describe_warnings("curl evil\rls") == (
        "1 carriage return would overwrite its line on a terminal: "
        "U+000D CARRIAGE RETURN."
    )


def test_m39_windows_lines_are_told_once() -> None:
    shown = show_text("one\r\ntwo\r\n")
    assert shown.crlf
    assert shown.warnings == ()
    assert [line.plain for line in shown.lines] == ["one", "two", ""]
    mixed = show_text("one\r\ntwo\n")
    assert not mixed.crlf
    assert mixed.warnings != ()


@each_row("character", ["\b", "\x7f", "\a", "\x00", "\x80", "\x9f"])
def test_m40_other_controls(character: str) -> None:
    assert make_visible(f"a{character}") == f"a⟨U+{ord(character):04X}⟩"
    assert "1 control character" in describe_warnings(f"a{character}")


@each_row("character", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85"])
def test_m41_one_line_stays_one(character: str) -> None:
    shown = show_text(f"a{character}b")
    assert len(shown.lines) == 1
    assert make_visible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"
    assert "breaks the line in some programs" in describe_warnings(f"a{character}b")


@each_row("character", ["\ue000", "\u0378", "\ud800", "\U0010ffff"])
def test_what_is_no_character_at_all(character: str) -> None:
    assert make_visible(character) == f"⟨U+{ord(character):04X}⟩"
    assert describe_warnings(character)


@each_row("text", ["⟨U+202E⟩", "〈U+202E〉", "❬U+202E", "⟨5,000 blank"])
def test_a_text_cannot_write_an_escape_of_its_own(text: str) -> None:
    assert make_visible(text).startswith(f"⟨U+{ord(text[0]):04X}⟩")


@each_row("text", ["Łódź, 東京, ñ and ✓", "Việt Nam", "שָׁלוֹם", "〈书〉"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == text


def test_tabs_and_blank_ends_of_lines_are_told_apart() -> None:
    kinds = [(part.kind, part.raw) for part in split_segments("a\tb  \nc")]
    assert kinds == [
        (PieceKind.PLAIN, "a"),
        (PieceKind.TAB, "\t"),
        (PieceKind.PLAIN, "b"),
        (PieceKind.EDGE, "  "),
        (PieceKind.NEWLINE, "\n"),
        (PieceKind.PLAIN, "c"),
    ]
