"""The real coding agents, where they are installed, in a home and project of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Project
from reviews.models import Review
from tests.gateway.coding_agents.hosts import is_waited_for
from tests.gateway.coding_agents.standins import Model
from tests.support.waiting import until

CLIENT = Path(__file__).resolve().parents[4] / "client"


def program(variable: str, name: str) -> str | None:
    """By the variable that names it, else by PATH."""
    return os.environ.get(variable) or shutil.which(name)


CLAUDE = program("CHECKRAIL_CLAUDE", "claude")
needs_claude = [
    pytest.mark.skipif(
        CLAUDE is None,
        reason="Claude Code is not installed: npm install @anthropic-ai/claude-code, then set "
        "CHECKRAIL_CLAUDE to its program",
    ),
]


@dataclass
class Session:
    """One session of a program in its project."""

    program: str
    home: Path
    project: Path
    model: Model
    said: dict[str, Any] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": str(CLIENT),
            **more,
        }

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.program, *words],
            cwd=self.project,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def last_document(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What the program printed last, once it has ended."""
    out, _ = process.communicate(timeout=50)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    assert lines, out
    document: dict[str, Any] = json.loads(lines[-1])
    return document


def waiting_review(project: Project, *, besides: str | None = None) -> Review:
    """The one that a hook is held for just now, `besides` one that nobody waits for."""
    opened = Review.objects.filter(project=project, state="open")
    if besides is not None:
        opened = opened.exclude(code=besides)

    def found() -> bool:
        review = opened.all().first()
        return review is not None and is_waited_for(review.run)

    until(found, seconds=60)
    return opened.get()
