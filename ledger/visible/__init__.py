"""Text from agents and people, made safe to read: nothing in it stays unseen.

Markup is the templates' business (they escape); this is about characters that a
browser obeys instead of showing: controls, bidirectional marks, zero-width joints.
Everything here is pure but for `fragments`, which renders what the others made.
"""

from __future__ import annotations

from ledger.visible.commands import ShownCommand, show_command
from ledger.visible.diff_rows import ShownDiff, show_diff
from ledger.visible.layers import Mark, marks_of
from ledger.visible.paging import pages
from ledger.visible.paths import ShownPath, show_path
from ledger.visible.plain import visible, visible_line
from ledger.visible.segments import Segment, segments
from ledger.visible.sentences import warnings_of
from ledger.visible.texts import ShownText, show_text

__all__ = [
    "Mark",
    "Segment",
    "ShownCommand",
    "ShownDiff",
    "ShownPath",
    "ShownText",
    "marks_of",
    "pages",
    "segments",
    "show_command",
    "show_diff",
    "show_path",
    "show_text",
    "visible",
    "visible_line",
    "warnings_of",
]
