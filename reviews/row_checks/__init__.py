"""Are the rows of reviews, rulings, calls, grants, permissions and checks what the chain
says? Entry by entry the rows are made anew, then they are compared with what is stored."""

from __future__ import annotations

from reviews.row_checks.compare import compare_with_chain
from reviews.row_checks.expected import (
    UNKNOWN,
    EntryOrigin,
    ExpectedRows,
    Payload,
    Take,
    add_grant,
    register_entry_rows,
    set_check_state,
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
