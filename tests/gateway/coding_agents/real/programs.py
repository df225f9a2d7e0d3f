"""The real coding agents, each in a home and a project of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accounts.models import Project
from reviews.models import Review
from tests.gateway.coding_agents.hosts import is_waited_for
from tests.gateway.coding_agents.standins import Model
from tests.node.packages import find_program
from tests.support.waiting import until

CLIENT = Path(__file__).resolve().parents[4] / "client"

# Only for what hangs: the programs are large, and machines are busy.
PATIENCE_S = 200


def find_claude() -> str:
    return find_program("@anthropic-ai/claude-code-*/claude")


def find_codex() -> str:
    return find_program("@openai/codex-*/vendor/*/bin/codex")


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
    out, _ = process.communicate(timeout=PATIENCE_S)
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
