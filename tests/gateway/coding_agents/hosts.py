"""A coding agent as the server sees it: recorded events of real ones, sent over HTTP.

Every answer is checked against the schema of the host's documentation before a test sees
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from django.db.models import QuerySet

from gateway.models import HookSession
from ledger.models import Run
from ledger.waiting.hub import count_waiting
from reviews.models import Review
from tests.gateway.coding_agents.schemas import check_answer
from tests.support.waiting import until

FIXTURES = Path(__file__).with_name("fixtures")
Answer = dict[str, Any]
# As long as nobody rules; the `impatient` fixture lets it be over at once.
SOON = {"wait_s": "20"}


def load_recorded(dialect: str, name: str) -> dict[str, Any]:
    """What the real program sent, its paths made plain."""
    text = (FIXTURES / dialect / f"{name}.json").read_text()
    event: dict[str, Any] = json.loads(text)
    return event


@dataclass
class Host:
    """One session of Claude Code or Codex."""

    client: httpx.Client
    dialect: str = "claude-code"
    options: dict[str, str] = field(default_factory=dict)
    session: str = field(default_factory=lambda: str(uuid4()))

    def send(self, name: str, **changed: Any) -> httpx.Response:
        """A recorded event with some of its fields changed."""
        event = {
            **load_recorded(self.dialect, name),
            "session_id": self.session,
            **changed,
        }
        given = {key: value for key, value in event.items() if value is not None}
        return self.client.post(
            f"/hooks/{self.dialect}/{event['hook_event_name']}",
            json=given,
            params=self.options,
        )

    def fire(self, name: str, **changed: Any) -> Answer:
        response = self.send(name, **changed)
        assert response.status_code == 200, response.text
        assert "checkrail-trouble" not in response.headers, response.text
        return check_answer(self.dialect, name.partition("-")[0], response.json())

    def before(self, command: str, use: str = "toolu_1", **changed: Any) -> Answer:
        """PreToolUse of a shell command."""
        given = {"command": command, "description": "Does it"}
        return self.fire(
            "PreToolUse-Bash", tool_input=given, tool_use_id=use, **changed
        )

    def after(self, command: str, use: str = "toolu_1", **changed: Any) -> Answer:
        """PostToolUse of a shell command."""
        given = {"command": command, "description": "Does it"}
        return self.fire(
            "PostToolUse-Bash", tool_input=given, tool_use_id=use, **changed
        )

    def parked(self, act: Callable[[], Answer]) -> Future[Answer]:
        """The event in a thread of its own; returns once the server holds it."""
        others = count_waiting(self.run.pk) if self.known else 0
        pool = ThreadPoolExecutor(max_workers=1)
        answer = pool.submit(act)
        pool.shutdown(wait=False)
        until(
            lambda: (
                answer.done() or (self.known and count_waiting(self.run.pk) > others)
            )
        )
        return answer

    @property
    def known(self) -> bool:
        return self._rows.filter(run__isnull=False).exists()

    @property
    def run(self) -> Run:
        session = self._rows.select_related("run").get()
        assert session.run is not None
        return session.run

    @property
    def _rows(self) -> QuerySet[HookSession]:
        return HookSession.objects.filter(dialect=self.dialect, session=self.session)

    @property
    def review(self) -> Review:
        """The newest one of the run."""
        return Review.objects.filter(run=self.run).order_by("-pk")[0]


def is_waited_for(run: Run) -> bool:
    """Somebody waits for this run, and has read it before."""
    return count_waiting(run.pk) > 0


def decision(answer: Answer) -> str:
    verdict: str = answer["hookSpecificOutput"]["permissionDecision"]
    return verdict


def reason(answer: Answer) -> str:
    said: str = answer["hookSpecificOutput"]["permissionDecisionReason"]
    return said
