"""Amounts, times and hostile text as the console writes them."""

from __future__ import annotations

import pytest

from console.format import (
    format_ago,
    format_change,
    format_clock,
    format_compact,
    format_money,
    format_seconds,
    format_span,
)
from safetext import make_visible, make_visible_line
from tests.support.rows import each_row


@each_row(
    ("amount", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_830, "1.8k"),
        (99_960, "100k"),
        (412_000, "412k"),
        (999_499, "999k"),
        (999_600, "1M"),
        (1_200_000, "1.2M"),
        (3_000_000_000, "3G"),
    ],
)
def test_amounts_are_short(amount: int, shown: str) -> None:
    assert format_compact(amount) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0 %"), (0.0004, "0 %"), (-0.0004, "0 %"), (0.013, "+1.3 %")],
)
def test_a_flat_slope_has_no_sign(share: float, shown: str) -> None:
    assert format_change(share) == shown
    assert format_change(-0.02) == "\N{MINUS SIGN}2.0 %"


@pytest.mark.parametrize(
    ("micros", "shown"),
    [(0, "$0.00"), (1_200, "$0.0012"), (12_100, "$0.01"), (6_180_000, "$6.18")],
)
def test_money_shows_something_even_below_a_cent(micros: int, shown: str) -> None:
    assert format_money(micros) == shown


@each_row(
    ("seconds", "in_words", "on_a_clock", "back"),
    [
        (-3, "0 s", "0:00", "just now"),
        (9, "9 s", "0:09", "9 s ago"),
        (60, "1 m 0 s", "1:00", "1 m ago"),
        (862, "14 m 22 s", "14:22", "14 m ago"),
        (3_600, "1 h", "1 h", "1 h ago"),
        (6_720, "1 h 52 m", "1 h 52 m", "1 h 52 m ago"),
        (90_000, "1 d 1 h", "1 d 1 h", "1 d 1 h ago"),
        (172_800, "2 d", "2 d", "2 d ago"),
    ],
)
def test_spans(seconds: int, in_words: str, on_a_clock: str, back: str) -> None:
    assert format_seconds(seconds) == in_words
    assert format_clock(seconds) == on_a_clock
    assert format_ago(seconds) == back


def test_an_amount_of_time_has_no_empty_seconds() -> None:
    assert [format_span(ms) for ms in (0, 9_500, 600_000, 601_000, 3_600_000)] == [
        "0 s",
        "9 s",
        "10 m",
        "10 m 1 s",
        "1 h",
    ]


@each_row(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Łódź, 東京 and ✓", "Łódź, 東京 and ✓"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb\u2066", "a⟨U+200B⟩b⟨U+2066⟩"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("filler\u3164", "filler⟨U+3164⟩"),
        ("line\u2028end", "line⟨U+2028⟩end"),
    ],
)
def test_no_character_stays_unseen(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_a_line_is_one_line_of_bounded_length() -> None:
    assert make_visible_line("a\n  b\tc") == "a b c"
    assert make_visible_line("x" * 400) == "x" * 299 + "…"
    assert len(make_visible_line("\u202e" * 1_000)) <= 300 * 8
