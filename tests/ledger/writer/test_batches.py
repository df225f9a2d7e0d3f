"""Many changes, one commit: each is done as if it were alone, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx
import pytest
from django.db.utils import OperationalError
from django.utils import timezone

from accounts.models import Project
from gateway.schemas.runs import StepIn
from gateway.use_cases.steps import ReportSteps, build_report
from ledger.idempotency import build_own_key, build_record
from ledger.models import Entry, IdempotencyRecord, ProjectHead, Run
from ledger.plan import Statement
from ledger.state import RunState
from ledger.verification.verify import verify_run
from ledger.writer import Change, Committed, Writer
from ledger.writer.batch import Committer
from ledger.writer.jobs import Job
from reviews.errors import StepOutOfOrder
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.builders import Robot, make_project, make_robot, start_run, step
from tests.support.live import Live

Decide = Callable[[Change[Any]], Any]


@dataclass(kw_only=True)
class Step(ReportSteps):
    """A step with something beside it: rows, statements, effects."""

    also: Decide = field(default=lambda change: change)

    def decide(self, run: RunState, at: datetime) -> Change[Any]:
        change = super().decide(run, at)
        self.also(change)
        return change


@dataclass(slots=True)
class Answered:
    """A job, and what came of it."""

    job: Job
    answers: list[tuple[Any, BaseException | None]]

    @property
    def error(self) -> BaseException | None:
        ((_, error),) = self.answers
        return error


@pytest.fixture
def commits() -> list[Committed]:
    return []


@pytest.fixture
def committer(database: None, commits: list[Committed]) -> Committer:
    """As the writer of another process would have it."""
    return Committer(commits.append)


def send(robo: Robot, run: str, number: int, also: Decide | None = None) -> Answered:
    request = Step(
        agent=robo.principal,
        run_code=run,
        reports=[build_report(StepIn(**step(number)))],
    )
    if also is not None:
        request.also = also
    answers: list[tuple[Any, BaseException | None]] = []
    return Answered(Job(request, lambda *told: answers.append(told)), answers)


def add_row(change: Change[Any], name: str) -> None:
    """Any row will do that can be counted by its agent."""
    key = build_own_key(name, agent_id=change.plan.run.agent_id)
    change.plan.rows.append(build_record(key, body={}, at=timezone.now()))


def count_keys(robo: Robot) -> int:
    agent_id = robo.principal.agent_id
    return IdempotencyRecord.objects.filter(agent_id=agent_id).count()


def steps_of(run: str) -> int:
    return Run.objects.values_list("steps", flat=True).get(code=run)


def test_of_a_run_that_moved_nothing_is_stored_until_it_is_judged_again(
    agent: httpx.Client, robo: Robot, committer: Committer, commits: list[Committed]
) -> None:
    moved, still = start_run(agent), start_run(agent)
    effects: list[str] = []

    def add_all(change: Change[Any]) -> None:
        name = change.plan.run.code
        add_row(change, name)
        text = "UPDATE ledger_idempotencyrecord SET status = status + 1 WHERE agent_id = %s"
        change.plan.statements.append(Statement(text, [change.plan.run.agent_id]))
        change.plan.side_updates.append(lambda: effects.append(name))

    committer.states.get(moved)  # remembered, and then moved by the other process
    assert agent.post(f"/runs/{moved}/steps", json=step(1)).status_code == 201
    lost, won = (
        send(robo, moved, 1, add_all),
        send(robo, still, 1, add_all),
    )

    assert committer.commit_batch([lost.job, won.job]) == [lost.job]

    assert (won.error, lost.answers) == (None, [])
    assert (steps_of(moved), steps_of(still)) == (1, 1)
    assert effects == [still]
    stored = IdempotencyRecord.objects.filter(agent_id=robo.principal.agent_id)
    assert list(stored.values_list("status", flat=True)) == [202]

    # Judged on what is stored by now, it is a step that was told before.
    assert committer.commit_batch([lost.job]) == []
    assert type(lost.error).__name__ == "StepSeen"
    assert count_keys(robo) == 1


def test_two_changes_of_one_run_are_one_write_with_all_that_belongs_to_them(
    agent: httpx.Client, robo: Robot, committer: Committer, commits: list[Committed]
) -> None:
    run = start_run(agent)
    effects: list[str] = []

    def first(change: Change[Any]) -> None:
        change.plan.wakes_waiters = True
        add_row(change, "first")
        change.plan.side_updates.append(lambda: effects.append("first"))

    def second(change: Change[Any]) -> None:
        add_row(change, "second")
        change.plan.side_updates.append(lambda: effects.append("second"))

    jobs = [send(robo, run, 1, first), send(robo, run, 2, second)]

    assert committer.commit_batch([each.job for each in jobs]) == []

    assert [each.error for each in jobs] == [None, None]
    assert (steps_of(run), count_keys(robo)) == (2, 2)
    assert effects == ["first", "second"]
    row = Run.objects.get(code=run)
    (commit,) = commits
    assert commit.waited_run_ids == commit.changed_run_ids == {row.pk}
    assert verify_run(row).ok


def test_a_commit_names_all_runs_and_projects_and_whose_waiters_it_is_about(
    live: Live,
    agent: httpx.Client,
    robo: Robot,
    project: Project,
    committer: Committer,
    commits: list[Committed],
) -> None:
    elsewhere = make_project()
    other = make_robot(project=elsewhere)
    with client_for(live, other) as client:
        there = start_run(client)
    here = start_run(agent)

    def wake(change: Change[Any]) -> None:
        change.plan.wakes_waiters = True

    jobs = [send(robo, here, 1), send(other, there, 1, wake)]
    assert committer.commit_batch([each.job for each in jobs]) == []

    (commit,) = commits
    ids = {code: Run.objects.get(code=code).pk for code in (here, there)}
    assert commit.projects == {project.pk, elsewhere.pk}
    assert commit.changed_run_ids == {*ids.values()}
    assert commit.waited_run_ids == {ids[there]}
    # Each project counts its own positions, and its head is the last of them.
    for each in (project, elsewhere):
        entries = Entry.objects.filter(project=each).order_by("position")
        positions = list(entries.values_list("position", flat=True))
        assert positions == [1, 2]
        assert ProjectHead.objects.get(project=each).position == 2


def test_one_that_cannot_be_judged_fails_alone(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    runs = [start_run(agent) for _ in range(3)]
    error = RuntimeError("of our own making")

    def fail(_change: Change[Any]) -> None:
        raise error

    jobs = [
        send(robo, runs[0], 1),
        send(robo, runs[1], 1, fail),
        send(robo, runs[2], 7),
        send(robo, runs[2], 1),
    ]

    assert committer.commit_batch([each.job for each in jobs]) == []

    assert [jobs[0].error, jobs[1].error, jobs[3].error] == [None, error, None]
    assert isinstance(jobs[2].error, StepOutOfOrder)
    assert [steps_of(run) for run in runs] == [1, 0, 1]


def test_a_database_that_fails_while_one_is_judged_is_no_fault_of_that_one(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    run = start_run(agent)

    def fail(_change: Change[Any]) -> None:
        raise OperationalError("The line was cut.")

    jobs = [send(robo, run, 1), send(robo, run, 2, fail)]
    with pytest.raises(OperationalError):
        committer.commit_batch([each.job for each in jobs])

    assert [each.answers for each in jobs] == [[], []]
    assert steps_of(run) == 0


def test_what_is_refused_on_what_is_not_yet_stored_is_judged_again(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    """The one before it may still be lost: then the refusal would have been wrong."""
    run = start_run(agent)
    jobs = [send(robo, run, 1), send(robo, run, 7), send(robo, run, 2)]

    again = committer.commit_batch([each.job for each in jobs])

    assert again == [jobs[1].job]
    assert jobs[1].answers == []
    assert steps_of(run) == 2
    assert committer.commit_batch(again) == []
    assert isinstance(jobs[1].error, StepOutOfOrder)


def test_what_asks_for_the_lock_is_handed_back_and_then_gets_it(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    run, other = start_run(agent), start_run(agent)
    locked = send(robo, run, 1, lambda change: locked.job.request.require_lock())
    plain = send(robo, other, 1)

    assert [locked.job.needs_own_transaction] == [False]
    assert committer.commit_batch([locked.job, plain.job]) == [locked.job]
    assert (locked.answers, steps_of(other)) == ([], 1)
    assert [locked.job.needs_own_transaction] == [True]

    committer.commit_one(locked.job)
    assert (locked.error, steps_of(run)) == (None, 1)


def test_what_asks_for_the_lock_while_it_has_it_is_judged_at_once(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    run = start_run(agent)
    locked = send(robo, run, 1, lambda change: locked.job.request.require_lock())

    committer.commit_one(locked.job)

    assert (locked.error, steps_of(run)) == (None, 1)


def test_a_run_that_others_keep_moving_is_decided_under_the_lock(
    agent: httpx.Client, robo: Robot
) -> None:
    """As when two processes serve the calls of one run: whoever loses twice, waits."""
    run = start_run(agent)

    def move_before_it_is_stored(_change: Change[Any]) -> None:
        if not losing.job.request.needs_lock:
            assert command(agent, run, "ls")["decision"] == "allow"

    losing = send(robo, run, 1, move_before_it_is_stored)
    writer = Writer()
    try:
        answered = writer.perform_now(losing.job.request)
    finally:
        writer.close()

    assert (answered.status, steps_of(run)) == (201, 1)


def test_an_answer_is_given_once() -> None:
    given: list[Any] = []
    job: Any = Job(None, lambda *told: given.append(told))  # type: ignore[arg-type]
    job.settle("first", None)
    job.settle(None, ValueError("second"))
    assert given == [("first", None)]


def test_any_text_is_stored_as_it_was_told(
    agent: httpx.Client, robo: Robot, committer: Committer
) -> None:
    """Whatever means something to a database: quotes, braces, its word for nothing."""
    texts = ['a "b" \\ c', "{d,e}", "NULL", "'f' -- %s ?", "\\", "é\u2028😀", "a\tb\nc"]
    run = start_run(agent)
    jobs = [send(robo, run, number) for number in range(1, len(texts) + 1)]
    for each, text in zip(jobs, texts, strict=True):
        request: Any = each.job.request
        request.reports = [request.reports[0]._replace(summary=text)]

    assert committer.commit_batch([each.job for each in jobs]) == []

    row = Run.objects.get(code=run)
    payloads = row.entries.order_by("seq").values_list("payload", flat=True)[1:]
    told = [json.loads(payload)["report"]["summary"] for payload in payloads]
    assert told == texts
    assert verify_run(row).ok
