"""Time that passes counts, whether or not the agent reports it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from gateway.use_cases import call_requests
from gateway.use_cases.runs import StartRun
from gateway.use_cases.step_payload import StepPayload
from ledger.models import Entry, Run
from ledger.plan import WrittenText
from ledger.writer import get_writer
from reviews.errors import RunClosed
from reviews.rulings.expiry import StopOverdueRun, stop_overdue_runs
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import rule as rule_on
from tests.support.problems import problem

WORDS = "Time used up by the server's clock: 0 s of 0.02 s left"


@pytest.fixture
def overdue(agent: httpx.Client) -> str:
    """A run with 20 ms, which are over."""
    run = start_run(agent, budget={"time_ms": 20})
    time.sleep(0.03)
    return run


def check_ledger(run: str) -> None:
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


def get_time(agent: httpx.Client, run: str) -> dict[str, Any]:
    budget: dict[str, Any] = agent.get(f"/runs/{run}").json()["budget"]["time_ms"]
    return budget


def test_a_step_after_the_time_limit_stops_the_run(
    agent: httpx.Client, overdue: str
) -> None:
    answer = agent.post(f"/runs/{overdue}/steps", json=step(1)).json()

    assert answer["decision"] == "stop"
    (found,) = answer["findings"]
    assert (found["gate"], found["message"][: len(WORDS)]) == ("budget", WORDS)
    assert answer["metrics"]["budget_remaining"]["time_ms"] == 0
    shown = get_time(agent, overdue)
    assert shown["used"] >= 30
    assert shown["remaining"] == 20 - shown["used"]
    # Stopped, it uses no more.
    assert get_time(agent, overdue) == shown
    check_ledger(overdue)


def test_a_call_after_the_time_limit_is_refused_and_stops_the_run(
    agent: httpx.Client, overdue: str
) -> None:
    call = command(agent, overdue, "ls")

    assert (call["decision"], call["grant"]) == ("block", None)
    (found,) = call["findings"]
    assert found["gate"] == "budget"
    assert found["details"]["used_up"] == ["time_ms"]
    run = agent.get(f"/runs/{overdue}").json()
    assert run["status"] == "stopped"
    assert run["status_reason"].startswith(WORDS)
    refused = agent.post(f"/runs/{overdue}/steps", json=step(1))
    assert problem(refused, "run-closed")["run_status"] == "stopped"
    check_ledger(overdue)


def test_a_call_that_waits_for_a_person_ends_with_the_run(agent: httpx.Client) -> None:
    """Reported time counts as well, and a late call closes what is open."""
    run = start_run(agent, budget={"time_ms": 60_000})
    granted, waits = command(agent, run, "ls"), command(agent, run)
    settle(agent, run, granted, duration_ms=60_000)

    assert command(agent, run, "ls -l")["decision"] == "block"

    assert agent.get(f"/runs/{run}").json()["open_reviews"] == []
    answer = agent.get(f"/runs/{run}/decision?review={waits['review']['id']}").json()
    assert (answer["run_status"], answer["state"]) == ("stopped", "superseded")
    check_ledger(run)


def test_a_grant_is_worth_nothing_once_the_time_is_over(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"time_ms": 60_000})
    first, late = command(agent, run, "ls"), command(agent, run, "ls -l")
    settle(agent, run, first, duration_ms=60_000)

    refused = problem(claim(agent, run, late), "run-closed")

    assert refused["run_status"] == "stopped"
    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"
    check_ledger(run)


def test_a_run_that_has_gone_quiet_is_stopped_by_the_sweep(
    agent: httpx.Client, overdue: str
) -> None:
    other = start_run(agent)

    assert stop_overdue_runs() >= 1

    run = agent.get(f"/runs/{overdue}").json()
    assert (run["status"], run["finished_at"]) == ("stopped", None)
    assert run["status_reason"].startswith(WORDS)
    last = Entry.objects.filter(run__code=overdue).latest("seq")
    assert (last.type, last.actor) == ("run.stopped", "system:clock")
    check_ledger(overdue)
    stop_overdue_runs()
    assert Entry.objects.filter(run__code=overdue).latest("seq") == last
    assert agent.get(f"/runs/{other}").json()["status"] == "running"
    with pytest.raises(RunClosed):
        get_writer().perform_now(StopOverdueRun(run_code=other))


def test_the_sweep_asks_once_however_many_run(
    agent: httpx.Client, django_assert_num_queries: Any
) -> None:
    stop_overdue_runs()
    for _ in range(3):
        start_run(agent)
    with django_assert_num_queries(2):  # what is halted, and what is overdue
        assert stop_overdue_runs() == 0


def test_waiting_for_a_person_does_not_count(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    rows = Run.objects.filter(code=run)
    row = rows.get()
    assert row.running_since == row.created_at
    assert row.time_over_at == row.created_at + timedelta(hours=1)

    review = pause_at_once(agent, run)

    waits = rows.get()
    assert (waits.running_since, waits.time_over_at) == (None, None)
    assert waits.running_ms is not None
    measured = waits.updated_at - waits.created_at
    assert waits.running_ms == measured // timedelta(milliseconds=1)

    rule_on(reviewer, review, "approve")

    again = rows.get()
    assert (again.running_ms, again.running_since) == (
        waits.running_ms,
        again.updated_at,
    )
    check_ledger(run)


def test_a_call_that_a_person_confirms_stops_the_clock_as_well(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    assert Run.objects.get(code=run).running_since is None
    rule(reviewer, call, "approve")
    assert Run.objects.get(code=run).running_since is not None
    check_ledger(run)


def test_a_reopened_run_goes_on_from_the_time_it_had(
    agent: httpx.Client, manager: httpx.Client, overdue: str
) -> None:
    agent.post(f"/runs/{overdue}/steps", json=step(1))
    used = get_time(agent, overdue)["used"]
    body = {"budget": {"time_ms": 3_600_000}, "reason": "It needs an hour"}

    manager.post(f"/runs/{overdue}/reopen", json=body)

    row = Run.objects.get(code=overdue)
    assert row.running_ms == used
    assert row.time_over_at is not None
    assert row.time_over_at > timezone.now()
    answer = agent.post(f"/runs/{overdue}/steps", json=step(2)).json()
    assert answer["decision"] == "continue"
    check_ledger(overdue)


def test_a_batch_of_steps_is_stopped_at_its_first_step(
    agent: httpx.Client, overdue: str
) -> None:
    body = {"steps": [step(1), step(2)]}
    answer = agent.post(f"/runs/{overdue}/steps/batch", json=body).json()
    assert [each["decision"] for each in answer["decisions"]] == ["stop"]


@pytest.mark.parametrize("column", ["running_ms", "running_since", "time_over_at"])
def test_a_clock_that_was_set_back_is_named(
    agent: httpx.Client, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start_run(agent)
    long_ago: dict[str, Any] = dict.fromkeys(
        ("running_since", "time_over_at"), datetime(2020, 1, 1, tzinfo=UTC)
    )
    Run.objects.filter(code=run).update(**{column: long_ago.get(column, -5)})

    with pytest.raises(SystemExit):
        call_command("ledger_verify", run=run)

    assert f"the run's {column} is" in capsys.readouterr().err


@pytest.mark.once("judges again, not SQL")
@pytest.mark.parametrize("what", ["step", "call"])
def test_a_time_that_does_not_follow_from_the_entries_is_named(
    agent: httpx.Client,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As a server would write that flatters its agents."""
    lie = {"running_ms": 10**9}
    run = start_run(agent, budget={"tokens": 10})
    if what == "step":
        write = StepPayload.write

        def flatter(self: StepPayload) -> WrittenText:
            self.more.update(lie)
            return write(self)

        monkeypatch.setattr(StepPayload, "write", flatter)
        agent.post(f"/runs/{run}/steps", json=step(1, tokens=1))
    else:
        monkeypatch.setattr(call_requests, "build_time_facts", lambda *_: lie)
        command(agent, run, "ls")

    with pytest.raises(SystemExit):
        call_command("replay", run=run)

    assert "running_ms is stored as 1000000000" in str(capsys.readouterr())


def test_a_run_of_before_has_no_clock_and_is_judged_as_before(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first entry does not say that its time is taken."""
    decide = StartRun.decide

    def start_as_before(self: StartRun, run: Any, at: datetime) -> Any:
        change = decide(self, run, at)
        first = change.plan.drafts[0].payload
        assert isinstance(first, dict)
        del first["timed"]
        change.plan.run = replace(change.plan.run, running_time=None)
        return change

    monkeypatch.setattr(StartRun, "decide", start_as_before)
    run = start_run(agent, budget={"time_ms": 1})
    time.sleep(0.01)

    assert agent.post(f"/runs/{run}/steps", json=step(1)).json()["decision"] == (
        "continue"
    )
    assert get_time(agent, run)["used"] == 0
    (entry,) = Entry.objects.filter(run__code=run, type="step.judged")
    assert '"running_ms"' not in entry.payload
    check_ledger(run)
