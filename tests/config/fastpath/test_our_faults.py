"""What breaks on our side: a problem without a word of the inside, and life goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import httpx
import pytest
from django.db import OperationalError

from gateway.api import runs
from gateway.use_cases import steps
from ledger import api as ledger_api
from tests.support.builders import start_run, step

pytestmark = pytest.mark.once("words of answers, not SQL")

INSIDE = "the password is swordfish"


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(INSIDE)


def no_database(*_: Any, **__: Any) -> NoReturn:
    raise OperationalError(INSIDE)


@pytest.fixture
def run(agent: httpx.Client) -> Iterator[str]:
    """A run that still takes its first step when all is over."""
    code = start_run(agent)
    yield code
    assert agent.post(f"/runs/{code}/steps", json=step(1)).status_code == 201


def answers(agent: httpx.Client, run: str) -> dict[str, httpx.Response]:
    """One of each kind of door: beside Django, async and sync in it."""
    return {
        "fast path": agent.post(f"/runs/{run}/steps", json=step(1)),
        "async": agent.post(f"/runs/{run}/finish", json={"outcome": "failed"}),
        "sync": agent.get(f"/runs/{run}"),
    }


def break_all(monkeypatch: pytest.MonkeyPatch, how: Any) -> None:
    monkeypatch.setattr(steps, "ReportSteps", how)
    monkeypatch.setattr(runs, "FinishRun", how)
    monkeypatch.setattr(ledger_api, "serialize_run", how)


def test_a_fault_of_ours_is_a_problem_that_tells_nothing(
    agent: httpx.Client, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_all(patched, fail)
        told = answers(agent, run)

    for answer in told.values():
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"] == "/problems/internal"
        assert INSIDE not in answer.text
        assert answer.content == told["fast path"].content


def test_a_database_that_does_not_answer_is_unavailable(
    agent: httpx.Client, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_all(patched, no_database)
        told = answers(agent, run)

    for answer in told.values():
        assert answer.status_code == 503
        assert answer.json()["type"] == "/problems/unavailable"
        assert int(answer.headers["retry-after"]) > 0
        assert INSIDE not in answer.text


def test_a_command_that_cannot_be_judged_does_not_end_the_writer(
    agent: httpx.Client, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(steps, "judge_step", fail)
        plain = agent.post(f"/runs/{run}/steps", json=step(1))
        key = {"Idempotency-Key": "k"}
        keyed = agent.post(f"/runs/{run}/steps", json=step(1), headers=key)

    assert plain.status_code == keyed.status_code == 500
    assert agent.get(f"/runs/{run}").json()["head"]["seq"] == 1
