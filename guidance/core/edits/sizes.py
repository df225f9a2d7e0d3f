"""How large a change is, and when that is too large to be read at once."""

from __future__ import annotations

from guidance.core.edits.changes import changes, split_lines

DIFF_LIMIT = 300


def diff_lines(content: str, *, original: str | None = None) -> int:
    """Lines put in and taken out; without the original every line counts as put in."""
    if original is None:
        return content.count("\n") + (content[-1:] not in ("", "\n"))
    made = changes(split_lines(original), split_lines(content))
    return sum(
        change.old_end - change.old + change.new_end - change.new for change in made
    )


def oversized(lines: int, *, limit: int = DIFF_LIMIT) -> str | None:
    """What to say about a change that is larger than the limit, None if it is not."""
    if lines <= limit:
        return None
    return (
        f"The change has {lines:,} lines, over the limit of {limit:,}: "
        "split it into stages that can be read and tested one by one"
    )
