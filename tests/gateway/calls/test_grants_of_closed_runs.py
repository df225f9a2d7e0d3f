"""A run that was closed leaves no permission behind, not even when it is opened again."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.writer import get_writer
from reviews.models import Grant
from reviews.rulings.expiry import AbandonRun, expire_due_reviews
from tests.gateway.calls.calls import claim, command, settle
from tests.reviews.rulings.test_expiry import overdue
from tests.reviews.test_abandonment import silent
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.people import rule
from tests.support.problems import problem


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    """Its reviews stop it when nobody rules."""
    make_policy("p", project=project, reviews={"on_expiry": "stop"})
    return start_run(agent, policy="p")


def states(run: str) -> set[str]:
    return set(Grant.objects.filter(run__code=run).values_list("state", flat=True))


def test_a_grant_does_not_outlive_an_expired_review_of_its_run(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    calls = [command(agent, run, "ls"), command(agent, run, "ls -l")]
    overdue(pause_at_once(agent, run))
    assert expire_due_reviews() >= 1
    assert states(run) == {"revoked"}

    answer = manager.post(f"/runs/{run}/reopen", json={"reason": "was asleep"})
    assert answer.json()["status"] == "running"

    problem(claim(agent, run, calls[0]), "grant-spent")
    problem(settle(agent, run, calls[1]), "grant-spent")
    again = command(agent, run, "ls")
    assert claim(agent, run, again).status_code == 200


def test_a_grant_does_not_outlive_a_step_that_stopped_its_run(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    call = command(agent, run, "ls")
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    manager.post(f"/runs/{run}/reopen", json={"reason": "look again"})

    problem(claim(agent, run, call), "grant-spent")


def test_an_abort_revokes_what_was_granted(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    call = command(agent, run, "ls")
    claimed = command(agent, run, "ls -l")
    assert claim(agent, run, claimed).status_code == 200

    assert reviewer.post(f"/runs/{run}/abort", json={}).status_code == 200

    assert states(run) == {"revoked", "spent"}
    problem(claim(agent, run, call), "run-closed")


def test_a_ruling_that_aborts_revokes_what_was_granted(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    command(agent, run, "ls")

    rule(reviewer, pause_at_once(agent, run), "abort")

    assert states(run) == {"revoked"}


def test_an_abandoned_run_leaves_no_grant(agent: httpx.Client, run: str) -> None:
    command(agent, run, "ls")
    silent(run, minutes=100_000)

    get_writer().perform_now(AbandonRun(run_code=run))

    assert Run.objects.get(code=run).status == "abandoned"
    assert states(run) == {"revoked"}


def test_a_finished_run_leaves_no_grant(agent: httpx.Client, run: str) -> None:
    command(agent, run, "ls")

    answer = agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    assert answer.status_code == 200, answer.text
    assert states(run) == {"revoked"}
