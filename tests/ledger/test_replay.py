"""manage.py replay: the same facts under the same policy give the same run."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Project
from guidance.core.steps.judge_step import ENGINE_VERSION
from ledger.models import Run
from ledger.verification.replay import replay_run
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import (
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    pause_run,
    start_run,
    step,
    unique,
)
from tests.support.people import rule


@pytest.fixture
def run(agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client) -> str:
    """A run that has seen everything: pause, question, checkpoint, stop, reopening."""
    code = start_run(agent, labels={"a": "b"}, model="m", intent="docs")
    review = pause_run(agent, code)["review"]["id"]
    reviewer.post(f"/reviews/{review}/claim")
    reviewer.post(f"/reviews/{review}/comments", json={"text": "hm"})
    rule(reviewer, review, "approve")
    agent.post(f"/runs/{code}/checkpoints", json={"step": 4, "state": {"x": 1}})
    asked = {"kind": "question", "title": "?"}
    question = agent.post(f"/runs/{code}/reviews", json=asked).json()["id"]
    rule(reviewer, question, "answer", answer="yes")
    again = agent.post(f"/runs/{code}/reviews", json=asked).json()["id"]
    agent.post(f"/reviews/{again}/withdraw")
    agent.post(f"/runs/{code}/steps", json=step(6, coherence=0.1, cost_usd="0.5"))
    manager.post(
        f"/runs/{code}/reopen", json={"reason": "r", "budget": {"tokens": 9**9}}
    )
    agent.post(f"/runs/{code}/steps", json=step(7, confidences=[0.5], failed_calls=1))
    pause_at_once(agent, code, number=8)
    return code


def difference(run: str, capsys: pytest.CaptureFixture[str], **more: Any) -> str:
    return list_faults("replay", f"DIFFERENT run {run} ", capsys, run=run, **more)


def list_faults(
    command: str, mark: str, capsys: pytest.CaptureFixture[str], **more: Any
) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command(command, **more)
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert mark in shown
    return shown


def name_row_fault(run: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both commands name it: the check of the chain needs no gate for it."""
    assert words in difference(run, capsys)
    mark = f"BROKEN run {run} "
    assert words in list_faults("ledger_verify", mark, capsys, run=run)


@pytest.mark.parametrize("ending", ["open", "finished", "aborted"])
def test_a_run_that_has_seen_everything_comes_out_again(
    agent: httpx.Client, reviewer: httpx.Client, run: str, ending: str
) -> None:
    if ending == "aborted":
        reviewer.post(f"/runs/{run}/abort", json={"reason": "x"})
    elif ending == "finished":
        review = agent.get(f"/runs/{run}").json()["open_reviews"][0]["id"]
        rule(reviewer, review, "approve")
        agent.post(f"/runs/{run}/finish", json={"outcome": "failed", "summary": "s"})

    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


ROW: dict[str, Any] = {
    "status_reason": "other",
    "tokens_limit": 1,
    "tool_calls_limit": None,
    "time_ms_limit": 7,
    "cost_micros_limit": 7,
    "tokens_used": 7,
    "tool_calls_used": 7,
    "time_ms_used": 7,
    "cost_micros_used": 7,
    "steps": 99,
    "rework_steps": 99,
    "last_step": 99,
    "last_checkpoint_step": 99,
    "last_decision": "continue",
    "lineage": "7/",
    "running_ms": 7,
    "running_since": "2020-01-01T00:00:00Z",
    "time_over_at": "2020-01-01T00:00:00Z",
    "created_at": "2020-01-01T00:00:00Z",
    "updated_at": "2020-01-01T00:00:00Z",
    "open_reviews": "[]",
    "status": "running",
    "task": "Another one",
    "intent": "feature",
    "model": "n",
    "labels": {"a": "c"},
}


def test_a_run_row_that_was_changed_is_named(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Run.objects.filter(code=run)
    before = row.values(*ROW).get()
    for column, value in ROW.items():
        row.update(**{column: value})
        name_row_fault(run, f"the run's {column} ", capsys)
        row.update(**{column: before[column]})

    for command in ("replay", "ledger_verify"):
        call_command(command, run=run)


def test_a_memory_that_was_changed_is_named(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Run.objects.get(code=run)
    memory = json.loads(row.memory) | {"segment": 0}
    text = json.dumps(memory, sort_keys=True, separators=(",", ":"))
    Run.objects.filter(code=run).update(memory=text)

    name_row_fault(run, "the run's memory ", capsys)


def test_a_run_given_to_another_agent_or_parent_is_named(
    run: str,
    agent: httpx.Client,
    project: Project,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = Run.objects.get(code=run)
    other = make_robot("other", project=project).principal.agent_id
    Run.objects.filter(code=run).update(agent_id=other)
    name_row_fault(run, "the run's agent ", capsys)

    parent = Run.objects.get(code=start_run(agent))
    Run.objects.filter(code=run).update(agent_id=row.agent_id, parent=parent)
    name_row_fault(run, "the run's parent ", capsys)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("verdict", "decision"), "continue", "decision"),
        (("verdict", "findings"), [], "findings"),
        (("verdict", "metrics", "rework_ratio"), 0.5, "metrics"),
        (("report", "rework"), False, "findings"),
        (("engine",), 7, "engine version"),
        (("report",), {}, "the entry"),
    ],
)
def test_a_stored_decision_that_was_changed_is_named(
    run: str,
    path: tuple[str, ...],
    value: Any,
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The fifth step paused the run: it is entry 6."""
    entry = Run.objects.get(code=run).entries.get(seq=6)
    payload = json.loads(entry.payload)
    place = payload
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE id = %s",
            [json.dumps(payload), entry.pk],
        )

    assert f"entry 6: {named} " in difference(run, capsys)


def test_what_older_gates_have_judged_is_counted_and_not_held_against_newer_ones(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gateway.replay.ENGINE_VERSION", ENGINE_VERSION + 1)

    call_command("replay", run=run)

    shown = capsys.readouterr().out
    assert "1 runs replayed, 0 different" in shown
    assert "8 decisions by older versions of the gates: not judged again" in shown


def test_a_policy_that_was_changed_by_hand_is_named(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    version = make_policy("mine", project=project, budget={"tokens": 10**6})
    code = start_run(agent, policy="mine")
    agent.post(f"/runs/{code}/steps", json=step(1))
    with without_triggers("guidance_policyversion"):
        run_sql(
            "UPDATE guidance_policyversion SET document = %s WHERE id = %s",
            ['{"budget":{"tokens":2000000}}', version.pk],
        )

    assert "the run's policy " in difference(code, capsys)


def test_another_version_of_the_policy_names_the_first_decision_that_changes(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    make_policy("mine", project=project)
    code = start_run(agent, policy="mine")
    make_policy("mine", project=project, **{"continue": {"max_uncertainty": 0.2}})
    for number, uncertainty in ((1, 0.1), (2, 0.3), (3, 0.9)):
        body = step(number, uncertainty=uncertainty)
        agent.post(f"/runs/{code}/steps", json=body)

    call_command("replay", run=code, policy="mine@1")
    shown = difference(code, capsys, policy="mine@2")

    assert "entry 3: decision is stored as" in shown
    assert '"pause"' in shown


def test_figures_that_depend_on_a_limit_are_no_other_decision(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """Other limits give other shares, words and scores; nothing is decided otherwise."""
    make_policy("mine", project=project)
    code = start_run(agent, policy="mine")
    for number, uncertainty in ((1, 0.1), (2, 0.3)):
        agent.post(f"/runs/{code}/steps", json=step(number, uncertainty=uncertainty))
    pause_at_once(agent, code, number=3)
    limits = {"max_uncertainty": 0.7}
    make_policy("mine", project=project, **{"continue": limits})

    call_command("replay", run=code, policy="mine@1")
    call_command("replay", run=code, policy="mine@2")


def test_a_finding_of_another_gate_is_another_decision(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    make_policy("mine", project=project)
    code = start_run(agent, policy="mine")
    agent.post(f"/runs/{code}/steps", json=step(1, uncertainty=0.95, tokens=900_000))
    make_policy("mine", project=project, **{"continue": {"max_uncertainty": 0.99}})

    assert "entry 2: " in difference(code, capsys, policy="mine@2")


@pytest.mark.parametrize("named", ["mine", "mine@", "@1", "mine@x", "mine@²", "no@1"])
def test_a_policy_that_is_nowhere_is_said_to_be_so(
    agent: httpx.Client, project: Project, named: str
) -> None:
    make_policy("mine", project=project)
    code = start_run(agent)

    with pytest.raises(CommandError):
        call_command("replay", run=code, policy=named)


def test_nothing_is_written_by_a_replay(run: str) -> None:
    before = Run.objects.values().get(code=run)

    call_command("replay", run=run)

    assert Run.objects.values().get(code=run) == before


def test_a_run_that_moves_on_is_replayed_as_far_as_it_was_read(
    agent: httpx.Client,
) -> None:
    code = start_run(agent)
    row = Run.objects.get(code=code)
    agent.post(f"/runs/{code}/steps", json=step(1))

    assert replay_run(row).difference is None


def test_another_projects_policy_of_the_same_name_judges_nothing(
    agent: httpx.Client, project: Project
) -> None:
    name, elsewhere = unique("mine"), make_project()
    strict = {"continue": {"max_uncertainty": 0.2}}
    make_policy(name, project=elsewhere, **strict)
    make_policy(name, project=elsewhere)
    make_policy(name, project=project)
    code = start_run(agent, policy=name)
    agent.post(f"/runs/{code}/steps", json=step(1, uncertainty=0.3))

    call_command("replay", run=code, policy=f"{name}@1")
    with pytest.raises(CommandError, match="No project with runs"):
        call_command("replay", run=code, policy=f"{name}@2")
