"""Just enough Markdown to hold the documentation against the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read_page(path: str) -> str:
    return (ROOT / path).read_text()


def blocks(text: str, *, language: str) -> list[str]:
    """The fenced blocks of one language, word for word."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def table_under(text: str, *, first_column: str) -> list[list[str]]:
    """The cells of the table that begins with this column, without its head."""
    lines = text.splitlines()
    start = next(
        i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |")
    )
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def code(cell: str) -> str:
    """`x` without its quotes."""
    return cell.strip("`")
