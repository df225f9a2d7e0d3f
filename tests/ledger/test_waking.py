"""After a ruling the writer itself looks for those who wait, and lets them go first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import httpx
import pytest

from accounts.models import Project
from accounts.services import issue_agent_key, revoke_agent_key
from common import responses
from common.responses import Reply
from gateway.use_cases import decision_wait
from ledger.waiting import hub
from ledger.writer import db_threads
from ledger.writer.jobs import Job
from reviews.rulings import decision_query
from tests.conftest import client_for
from tests.support.builders import Robot, pause_at_once, start_run
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.waiting import park

T = TypeVar("T")


def test_whoever_wakes_need_not_read_for_itself(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)
    reads: list[object] = []

    async def counted(query: Callable[[], T]) -> T:
        reads.append(query)
        return await db_threads.run_in_db_thread(query)

    monkeypatch.setattr(decision_wait, "run_in_db_thread", counted)

    ruling = rule(reviewer, review, "approve")["ruling"]

    assert parked.result(timeout=60).json()["ruling"] == ruling
    assert reads == []


def test_the_agents_answer_comes_before_the_reviewers(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer waits for it: with all the time it wants, nobody else comes first."""
    monkeypatch.setattr(hub, "TELL_SECONDS", 15)
    order: list[str] = []
    settle = Job.settle

    def replied(answer: Any) -> Reply:
        order.append("agent")
        return responses.build_reply(answer)

    def settled(job: Job, answer: Any, error: BaseException | None) -> None:
        order.append("reviewer")
        settle(job, answer, error)

    for _ in range(5):
        run = start_run(agent)
        review = pause_at_once(agent, run)
        parked = park(agent, run)
        with monkeypatch.context() as patched:
            patched.setattr(decision_wait, "build_reply", replied)
            patched.setattr(Job, "settle", settled)
            rule(reviewer, review, "approve")
            parked.result(timeout=60)

    assert order == ["agent", "reviewer"] * 5


def test_a_crowd_at_one_run_is_woken_whole(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_get_heads", lambda _runs: {})  # no re-check helps
    run = start_run(agent)
    review = pause_at_once(agent, run)
    crowd = [park(agent, run) for _ in range(hub.LOOKS + 3)]

    ruling = rule(reviewer, review, "approve")["ruling"]

    for each in crowd:
        assert each.result(timeout=60).json()["ruling"] == ruling


def test_a_look_that_fails_holds_up_nobody(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_get_heads", lambda _runs: {})
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)
    found = decision_query.get_decision_state

    def fails_for_the_writer(*args: Any, **more: Any) -> Any:
        if threading.current_thread().name == "ledger":
            raise RuntimeError("not now")
        return found(*args, **more)

    monkeypatch.setattr(decision_wait, "get_decision_state", fails_for_the_writer)

    ruling = rule(reviewer, review, "approve")["ruling"]

    assert parked.result(timeout=60).json()["ruling"] == ruling


def test_a_key_revoked_meanwhile_hears_nothing(
    live: Live, project: Project, reviewer: httpx.Client
) -> None:
    key, secret = issue_agent_key(name="robo", project_slug=project.slug)
    with client_for(live, Robot(name="robo", key=secret)) as client:
        run = start_run(client)
        review = pause_at_once(client, run)
        parked = park(client, run)
        revoke_agent_key(key=key)

        rule(reviewer, review, "approve")

        problem(parked.result(timeout=60), "unauthenticated")
