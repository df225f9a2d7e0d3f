"""Violations during a run: told by agents, found by gates, and never told twice."""

from __future__ import annotations

import json

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from gateway.use_cases.outcomes.seen import load_seen
from guidance.core.outcomes.section import Evaluators
from ledger.models import Run, RunOutcome
from ledger.state import build_state
from ledger.verification.replay import replay_run
from ledger.verification.row_checks import compare_runs
from ledger.verification.verify import verify_run
from reviews.models import Violation
from tests.gateway.calls.calls import command, settle
from tests.gateway.outcomes.test_what_was_seen import finish, get_evaluation
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.problems import fields, problem

TOLD = {
    "rule": "no-prints",
    "severity": "critical",
    "description": "Left a print",
    "auto_corrected": True,
}


def test_a_violation_is_stored_and_counts_at_the_end(agent: httpx.Client) -> None:
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/violations", json=TOLD)
    assert answer.status_code == 201
    assert answer.json() == {"run": run, **TOLD, "receipt": answer.json()["receipt"]}
    assert answer.json()["receipt"]["seq"] == 2
    agent.post(f"/runs/{run}/violations", json={"rule": "R2", "severity": "high"})

    ended = finish(agent, run)

    rate = get_evaluation(ended, "violation-rate")
    assert rate["details"]["severities"] == {"critical": 1, "high": 1}
    assert rate["details"]["rate"] == 2.0
    assert (rate["passed"], rate["source"]) == (True, "reported")
    assert rate["details"]["rules"] == ["R2", "no-prints"]


def test_a_violation_sent_again_is_stored_once(agent: httpx.Client) -> None:
    run = start_run(agent)
    headers = {"Idempotency-Key": f"v-{run}"}
    first, again = (
        agent.post(f"/runs/{run}/violations", json=TOLD, headers=headers)
        for _ in range(2)
    )
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Violation.objects.filter(run__code=run).count() == 1


def test_a_violation_without_a_known_severity_or_of_a_closed_run_is_refused(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    wrong = agent.post(
        f"/runs/{run}/violations", json={"rule": "", "severity": "awful"}
    )
    assert fields(problem(wrong, "invalid")) == ["rule", "severity"]
    finish(agent, run)
    problem(agent.post(f"/runs/{run}/violations", json=TOLD), "run-closed")


def test_a_secret_in_a_violation_is_not_kept(agent: httpx.Client) -> None:
    run = start_run(agent)
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"
    body = {**TOLD, "rule": f"leaks {secret}", "description": f"see {secret}"}
    told = agent.post(f"/runs/{run}/violations", json=body).text
    assert secret not in told
    assert secret not in agent.get(f"/runs/{run}/ledger").text


def test_every_finding_of_a_gate_is_one(agent: httpx.Client) -> None:
    run = start_run(agent)
    command(agent, run, "rm notes.txt")
    command(agent, run, "rm -rf /srv/a && git push --force")
    command(agent, run, "ls", confirm=True)
    run_paused = start_run(agent)
    pause_at_once(agent, run_paused)

    rows = Violation.objects.filter(run__code=run).order_by("seq", "place")
    assert [(row.rule, row.severity, row.decision) for row in rows] == [
        ("delete-named-file", "low", "warn"),
        ("delete-folder", "high", "require-confirmation"),
        ("git-push-force", "high", "require-confirmation"),
    ]
    assert [row.destructive for row in rows] == [False, True, True]
    (paused,) = Violation.objects.filter(run__code=run_paused)
    assert (paused.rule, paused.severity) == ("uncertainty", "medium")
    assert (paused.decision, paused.gate) == ("pause", "uncertainty")


def test_the_rows_are_what_the_chain_says_and_the_end_is_judged_again(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("lax", project=project, tools={"rules": {"delete-*": "warn"}})
    code = start_run(agent, policy="lax")
    agent.post(f"/runs/{code}/violations", json=TOLD)
    settle(agent, code, command(agent, code, "rm -rf /srv/a; npm i left-pad"))
    told = {**TOLD, "severity": "low"}
    ended = finish(agent, code, violations=[told], rework_lines=1)
    assert ended["status"] == "failed"
    run = Run.objects.select_related("policy").get(code=code)
    assert verify_run(run).ok
    assert list(compare_runs([run])) == []
    replayed = replay_run(run)
    assert (replayed.difference, replayed.skipped) == (None, 0)

    changed = RunOutcome.objects.filter(run=run)
    changed.update(accepted=True)
    assert "accepted" in next(iter(compare_runs([run]))).reason
    changed.update(accepted=False)
    broken = Violation.objects.filter(run=run, rule="delete-folder")
    broken.update(severity="info")
    assert "severity" in next(iter(compare_runs([run]))).reason
    broken.update(severity="high")
    assert list(compare_runs([run])) == []


def test_a_run_with_very_many_calls_is_read_in_parts(agent: httpx.Client) -> None:
    """As many queries for many calls as for one, and what is kept has a limit."""
    run = start_run(agent)
    for number in range(30):
        settle(agent, run, command(agent, run, f"npm i pad-{number}"))
    state = build_state(Run.objects.get(code=run))

    with CaptureQueriesContext(connection) as queries:
        found = load_seen(state, Evaluators())
    assert len(queries) <= 11
    assert len(found.dependencies) == 30
    ended = finish(agent, run)
    last = json.loads(agent.get(f"/runs/{run}/ledger").text.splitlines()[-1])
    assert last["payload"]["seen"]["ran"] == 30
    assert ended["accepted"] is True
