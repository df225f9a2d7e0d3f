"""Many open reviews at once, written straight into the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import httpx

from accounts.models import Project, User
from common.ids import uuid7
from reviews.models import Kind, Review
from tests.support.builders import make_policy, pause_at_once, start_run


def open_many(
    agent: httpx.Client,
    project: Project,
    *,
    count: int,
    assignees: Sequence[User | None] = (None,),
) -> list[str]:
    """So many pauses, the longest wait first; claimed by each of these in turn.

    More than an agent may have open as a rule: this project's policy lets it.
    """
    lifted = {"open_reviews": {"agent": 10_000, "project": 10_000}}
    make_policy("default", project=project, caps=lifted)
    first = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    began = first.opened_at - timedelta(hours=1)
    rows = [
        Review(
            code=uuid7(),
            project=project,
            run_id=first.run_id,
            kind=Kind.PAUSE,
            title=f"Pause {number}",
            content=first.content,
            content_digest=first.content_digest,
            # Several at the same moment: the order must be told by more than the time.
            opened_at=began + timedelta(milliseconds=number // 3),
            severity=first.severity,
            reversibility=first.reversibility,
            urgency=first.urgency,
            answer_by=first.answer_by
            - timedelta(hours=1)
            + timedelta(milliseconds=number // 3),
            due_at=first.due_at,
            on_expiry=first.on_expiry,
            assignee=assignees[number % len(assignees)],
            claimed_at=first.opened_at if assignees[number % len(assignees)] else None,
        )
        for number in range(count - 1)
    ]
    Review.objects.bulk_create(rows, batch_size=500)
    ordered = sorted(rows, key=lambda row: (row.opened_at, str(row.code)))
    return [*(str(row.code) for row in ordered), str(first.code)]


def ask_to_run(agent: httpx.Client, command: str) -> str:
    """A call that a person must confirm; returns the review's id."""
    call = {"kind": "command", "tool": "Bash", "command": command}
    answer = agent.post(f"/runs/{start_run(agent)}/tool-calls", json=call)
    assert answer.status_code == 201, answer.text
    review: str = answer.json()["review"]["id"]
    return review
