"""Text from agents and people, made safe to read: nothing in it stays invisible.

Markup is the templates' business (they escape); this is about characters that a
browser obeys instead of showing: controls, bidirectional marks, zero-width joints.
Everything here is pure: templates/safetext renders what it builds.
"""

from __future__ import annotations

from safetext.commands import ShownCommand, show_command
from safetext.diffs.rows import ShownDiff, show_diff
from safetext.marks import Mark, build_marks
from safetext.paging import split_pages
from safetext.paths import ShownPath, show_path
from safetext.plain import make_visible, make_visible_line
from safetext.segments import Segment, split_segments
from safetext.texts import ShownText, show_text
from safetext.warnings import build_warnings

__all__ = [
    "Mark",
    "Segment",
    "ShownCommand",
    "ShownDiff",
    "ShownPath",
    "ShownText",
    "build_marks",
    "build_warnings",
    "make_visible",
    "make_visible_line",
    "show_command",
    "show_diff",
    "show_path",
    "show_text",
    "split_pages",
    "split_segments",
]
