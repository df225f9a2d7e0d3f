"""What a command prints: a table for eyes, or JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from checkrail.cli.lines import fold_line

GAP = "  "


def print_line(text: str) -> None:
    print(text)


def print_folded(line: str) -> None:
    """Folded by us: a terminal would begin the rest of a long line at its left edge."""
    if not sys.stdout.isatty():
        print_line(line)
        return
    for piece in fold_line(line, width=shutil.get_terminal_size().columns):
        print_line(piece)


def print_error(text: str) -> None:
    print(text, file=sys.stderr)


def print_json(document: Any) -> None:
    """Everything is escaped but what a terminal shows for itself."""
    print(json.dumps(document, ensure_ascii=True, indent=2))


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str
) -> None:
    """With rich where it is installed, else plain columns. Cells are visible already."""
    if not rows:
        print_line(empty)
        return
    if sys.stdout.isatty() and _print_rich_table(headings, rows):
        return
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print_line(GAP.join(cells).rstrip())


def _print_rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="ellipsis", no_wrap=True)
    for row in rows:
        # Text and not markup: a title may hold square brackets.
        drawn.add_row(*(Text(cell) for cell in row))
    Console(width=shutil.get_terminal_size().columns, highlight=False).print(drawn)
    return True


def list_raw(items: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Answers as the server gave them."""
    return [item.raw for item in items]


def format_age(stamp: str) -> str:
    """`4 min`: how long ago, by this machine's clock."""
    if not stamp:
        return ""
    then = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    seconds = max(0, int((datetime.now(timezone.utc) - then).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def shorten_id(identifier: str) -> str:
    """The end of an id: unlike its beginning, it is not a date."""
    return identifier[-8:]
