"""Are the rows of reviews, rulings, calls, grants, permissions and checks what the chain
says? Entry by entry the rows are made anew, then they are compared with what is stored."""

from __future__ import annotations

from reviews.row_checks.compare import compare_with_chain

__all__ = ["compare_with_chain"]
