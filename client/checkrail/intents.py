"""What kinds of work a run, or a step, may be: the server knows these words alone."""

from __future__ import annotations

from typing import Literal

Intent = Literal[
    "bug-fix",
    "feature",
    "refactor",
    "security",
    "performance",
    "testing",
    "docs",
    "deployment",
    "architecture",
    "debug",
    "general",
]
