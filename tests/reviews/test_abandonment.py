"""A run whose agent falls silent is abandoned; one that waits for a person is not."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.models import Run
from ledger.writer import get_writer
from reviews.errors import RunClosed
from reviews.rulings.expiry import AbandonRun, abandon_silent_runs
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.problems import problem


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("hour", project=project, runs={"abandon_after_s": 3600})
    return start_run(agent, policy="hour")


def silent(run: str, *, minutes: int) -> None:
    since = timezone.now() - timedelta(minutes=minutes)
    Run.objects.filter(code=run).update(created_at=since, updated_at=since)


def test_a_silent_run_is_abandoned_and_that_is_final(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    silent(run, minutes=61)

    assert abandon_silent_runs() >= 1

    stored = agent.get(f"/runs/{run}").json()
    assert stored["status"] == "abandoned"
    assert stored["finished_at"] is not None
    refusals = [
        agent.post(f"/runs/{run}/steps", json=step(1)),
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}),
        manager.post(f"/runs/{run}/abort", json={}),
        manager.post(f"/runs/{run}/reopen", json={"reason": "x"}),
    ]
    for refusal in refusals:
        assert problem(refusal, "run-closed")["run_status"] == "abandoned"


def test_a_run_that_is_silent_for_less_than_its_patience_goes_on(
    agent: httpx.Client, run: str
) -> None:
    silent(run, minutes=59)

    abandon_silent_runs()

    assert agent.get(f"/runs/{run}").json()["status"] == "running"


def test_a_paused_run_is_not_abandoned(agent: httpx.Client, run: str) -> None:
    pause_at_once(agent, run)
    silent(run, minutes=10_000)

    abandon_silent_runs()

    assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_a_run_that_paused_meanwhile_is_left_alone(
    agent: httpx.Client, run: str
) -> None:
    """The sweep found it running; the command judges again under the lock."""
    pause_at_once(agent, run)
    silent(run, minutes=10_000)

    with pytest.raises(RunClosed):
        get_writer().perform_now(AbandonRun(run_code=run))


def test_a_run_that_spoke_meanwhile_is_left_alone(
    agent: httpx.Client, run: str
) -> None:
    silent(run, minutes=59)

    with pytest.raises(RunClosed):
        get_writer().perform_now(AbandonRun(run_code=run))
    assert agent.get(f"/runs/{run}").json()["status"] == "running"

    silent(run, minutes=61)
    assert get_writer().perform_now(AbandonRun(run_code=run))


def test_a_stopped_run_is_not_abandoned(agent: httpx.Client, run: str) -> None:
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    silent(run, minutes=10_000)

    abandon_silent_runs()

    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"
