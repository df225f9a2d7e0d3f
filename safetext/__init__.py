"""Text from agents and people, made safe to read: nothing in it stays unseen.

Markup is the templates' business (they escape); this is about characters that a
browser obeys instead of showing: controls, bidirectional marks, zero-width joints.
Everything here is pure: templates/safetext renders what it builds.
"""

from __future__ import annotations

from safetext.commands import ShownCommand, show_command
from safetext.diffs.rows import ShownDiff, show_diff
from safetext.marks import Mark, marks_of
from safetext.paging import pages
from safetext.paths import ShownPath, show_path
from safetext.plain import visible, visible_line
from safetext.segments import Segment, segments
from safetext.texts import ShownText, show_text
from safetext.warnings import warnings_of

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
