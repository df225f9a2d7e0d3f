"""Are the rows of reviews, rulings, calls, grants, permissions and checks what the chain
says? Entry by entry the rows are made anew, then they are compared with what is stored."""

from __future__ import annotations

from reviews.row_checks.compare import compare_with_chain
from reviews.row_checks.expected import add_grant, set_check_state
from reviews.row_checks.rows import (
    UNKNOWN,
    EntryOrigin,
    ExpectedRows,
    Payload,
    Take,
    register_entry_rows,
)

__all__ = [
    "UNKNOWN",
    "EntryOrigin",
    "ExpectedRows",
    "Payload",
    "Take",
    "add_grant",
    "compare_with_chain",
    "register_entry_rows",
    "set_check_state",
]
