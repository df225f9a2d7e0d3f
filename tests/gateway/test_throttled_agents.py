"""An agent that is asked to wait and does not is noticed by the server's clock."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from ledger.backtest.judges import BothJudgements
from ledger.models import Entry, Run
from tests.support.builders import make_policy, start_run, step
from tests.support.people import rule


def throttled_run(agent: httpx.Client, project: Project, *, delay_ms: int) -> str:
    """A run that spends ever more, and was asked to wait by its sixth step."""
    limits = {"throttle_base_ms": delay_ms, "throttle_max_ms": 86_400_000}
    make_policy("slow", project=project, **{"continue": limits})
    run = start_run(agent, policy="slow")
    answers = [report(agent, run, number) for number in range(1, 7)]
    assert [each["decision"] for each in answers] == ["continue"] * 5 + ["throttle"]
    return run


def report(agent: httpx.Client, run: str, number: int, **more: Any) -> dict[str, Any]:
    body = step(number, tokens=1000 + 100 * number, **more)
    answer = agent.post(f"/runs/{run}/steps", json=body)
    assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def list_gates(answer: dict[str, Any]) -> list[str]:
    return [finding["gate"] for finding in answer["findings"]]


def check_ledger(run: str) -> None:
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


def test_three_steps_that_did_not_wait_pause_the_run(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = throttled_run(agent, project, delay_ms=600_000)

    answers = [report(agent, run, number) for number in (7, 8, 9)]

    assert [each["decision"] for each in answers] == ["throttle", "throttle", "pause"]
    for answer in answers:
        assert "throttle_ignored" in list_gates(answer)
    review = reviewer.get(f"/reviews/{answers[-1]['review']['id']}").json()
    assert review["title"].startswith("Asked to wait 40 min, came after ")
    rule(reviewer, review["id"], "approve")
    # What is approved is forgiven.
    assert "throttle_ignored" not in list_gates(report(agent, run, 10))
    check_ledger(run)


def test_an_agent_that_waits_is_left_alone(
    agent: httpx.Client, project: Project
) -> None:
    run = throttled_run(agent, project, delay_ms=1)
    for number in range(7, 11):
        time.sleep(0.02)
        answer = report(agent, run, number)
        assert list_gates(answer) == ["slope"], answer
    check_ledger(run)


def test_the_fact_is_in_the_entry_and_only_there(
    agent: httpx.Client, project: Project
) -> None:
    run = throttled_run(agent, project, delay_ms=600_000)
    report(agent, run, 7)
    steps = Entry.objects.filter(run__code=run, type="step.judged").order_by("seq")
    noted = ['"waited_ms"' in entry.payload for entry in steps]
    assert noted == [False] * 6 + [True]


@pytest.mark.once("judges a batch, not SQL")
def test_steps_of_one_batch_could_not_have_waited(
    agent: httpx.Client, project: Project
) -> None:
    """They were done when the first answer came; the next request is another matter."""
    make_policy(
        "slow", project=project, **{"continue": {"throttle_max_ms": 86_400_000}}
    )
    run = start_run(agent, policy="slow")
    bodies = [step(number, tokens=1000 + 100 * number) for number in range(1, 11)]
    answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": bodies}).json()
    decisions = [each["decision"] for each in answer["decisions"]]
    assert decisions == ["continue"] * 5 + ["throttle"] * 5
    assert "throttle_ignored" not in str(answer)

    assert "throttle_ignored" in list_gates(report(agent, run, 11))
    check_ledger(run)


@pytest.mark.once("judges steps again, not SQL")
def test_a_draft_is_judged_on_the_same_waits(
    agent: httpx.Client, project: Project
) -> None:
    """A backtest: with a limit of two the second step that did not wait would pause."""
    run = throttled_run(agent, project, delay_ms=600_000)
    report(agent, run, 7)
    report(agent, run, 8)
    limits = {"throttle_base_ms": 600_000, "throttle_ignore_limit": 2}
    draft = load_policy({"continue": {**limits, "throttle_max_ms": 86_400_000}})
    pages = judge_history(Run.objects.filter(code=run), draft=draft)
    moves = [
        (each.outcome.before["decision"], each.outcome.after["decision"])
        for page in pages
        for each in page.judged
        if isinstance(each.outcome, BothJudgements)
    ]
    assert moves[-1] == ("throttle", "pause")
    assert moves[-2] == ("throttle", "throttle")
