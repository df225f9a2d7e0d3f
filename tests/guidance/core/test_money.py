"""Amounts of money in and out."""

from __future__ import annotations

import pytest

from guidance.core.money import format_usd, parse_usd
from tests.support.rows import each_row


@each_row(
    ("text", "amount"),
    [
        ("0.0121", 12_100),
        ("10.00", 10_000_000),
        ("10", 10_000_000),
        ("0", 0),
        ("0.000001", 1),
        ("999999999999.999999", 999_999_999_999_999_999),
    ],
)
def test_an_amount_is_read_exactly(text: str, amount: int) -> None:
    assert parse_usd(text) == amount


@each_row(
    "text",
    [
        "",
        "0.0000001",
        "-1",
        "+1",
        "1e3",
        ".5",
        "5.",
        "1,000",
        "1_000",
        " 1",
        "1\n",
        "007",
        "NaN",
        "Infinity",
        "\u0661",
        "1000000000000",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        parse_usd(text)


@each_row(
    ("amount", "text"),
    [
        (9_987_900, "9.9879"),
        (10_000_000, "10.00"),
        (0, "0.00"),
        (1, "0.000001"),
        (500_000, "0.50"),
        (-2_500_000, "-2.50"),
    ],
)
def test_an_amount_is_written_with_two_to_six_decimals(amount: int, text: str) -> None:
    assert format_usd(amount) == text


@each_row("amount", [0, 1, 12_100, 999_999, 1_000_000, 10**15 + 1])
def test_what_is_written_is_read_back(amount: int) -> None:
    assert parse_usd(format_usd(amount)) == amount
