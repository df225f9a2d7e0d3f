"""The server's own runs: one follows the other, in each project for itself."""

from __future__ import annotations

import pytest

from accounts.models import SYSTEM_LOOP, SYSTEM_POLICIES, Agent, Project
from guidance.services import get_policy_in_force
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from ledger.writer import get_writer
from ledger.writer.system_runs import RunStarted, StartSystemRun, find_newest_run
from tests.support.builders import make_project
from tests.support.threads import at_once

NAME, OTHER = SYSTEM_LOOP, SYSTEM_POLICIES


def start(project: Project, parent: Run | None = None, name: str = NAME) -> Run:
    request = StartSystemRun(
        name=name,
        task="Its own task",
        owner_id=project.pk,
        policy=get_policy_in_force(project_id=project.pk, name="default"),
        parent=parent,
    )
    return Run.objects.get(code=get_writer().perform_now(request))


def test_a_run_follows_the_newest_of_its_agent_in_its_project(
    project: Project,
) -> None:
    elsewhere = make_project()
    theirs = start(elsewhere)
    first = start(project)
    other = start(project, name=OTHER)
    second = start(project, parent=first)

    assert find_newest_run(project.pk, NAME) == second
    assert find_newest_run(project.pk, OTHER) == other
    assert find_newest_run(elsewhere.pk, NAME) == theirs
    assert find_newest_run(elsewhere.pk, OTHER) is None
    assert (first.parent, second.parent) == (None, first)
    assert (second.intent, second.labels) == (NAME, {"kind": NAME})
    assert (second.status, second.task) == ("running", "Its own task")
    limits = ("tokens_limit", "tool_calls_limit", "time_ms_limit", "cost_micros_limit")
    assert {getattr(second, name) for name in limits} == {None}
    assert first.agent == second.agent == Agent.objects.get(project=project, name=NAME)
    for run in (first, second, other, theirs):
        assert verify_run(run).ok
        assert replay_run(run).difference is None


def test_of_all_who_start_it_one_does(project: Project) -> None:
    def attempt() -> Run | None:
        try:
            return start(project)
        except RunStarted:
            return None

    started = [run for run in at_once(*[attempt] * 4) if run is not None]

    assert len(started) == 1
    with pytest.raises(RunStarted):
        start(project)
    start(project, parent=started[0])
    with pytest.raises(RunStarted):
        start(project, parent=started[0])
    assert Run.objects.filter(project=project).count() == 2
