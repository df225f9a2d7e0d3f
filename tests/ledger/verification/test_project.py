"""The whole ledger of a project is checked in the background, and goes on after a kill."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from accounts.models import Project
from ledger.jobs import perform
from ledger.models import Entry, ProjectVerification, Run
from ledger.verification import whole
from ledger.verification.project import (
    perform_verifications,
    read_findings,
    start_due_verifications,
    start_verification,
)
from ledger.verification.verify import Verification, verify_row
from reviews.administration.chain import record_known
from reviews.policies.chain import ensure_chain
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import Robot, start_run, step
from tests.support.threads import Threads


@pytest.fixture(autouse=True)
def chains(project: Project, robo: Robot) -> list[str]:
    """The server's own chains, which a check begins where they are missing."""
    record_known(project.pk)
    ensure_chain(project.pk)
    runs = Run.objects.filter(project=project).order_by("pk")
    return [str(run.code) for run in runs]


def make_runs(agent: httpx.Client, count: int) -> list[str]:
    runs = [start_run(agent) for _ in range(count)]
    for run in runs:
        assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201
    return runs


def test_all_runs_and_entries_are_counted(
    project: Project, agent: httpx.Client
) -> None:
    make_runs(agent, 3)
    entries = Entry.objects.filter(project=project).count()
    job = start_verification(project)
    assert start_verification(project).pk == job.pk, "One at a time."

    assert perform_verifications() >= 1

    job.refresh_from_db()
    found = read_findings(job)
    assert (job.state, job.done, job.total) == ("finished", entries, entries)
    assert found.is_whole, found
    assert found.runs == Run.objects.filter(project=project).count()


def test_a_changed_entry_and_a_missing_one_are_named(
    project: Project, agent: httpx.Client
) -> None:
    changed, cut = make_runs(agent, 2)
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE seq = 2 AND run_id = %s",
            ["{}", Run.objects.get(code=changed).pk],
        )
        run_sql(
            "DELETE FROM ledger_entry WHERE seq = 2 AND run_id = %s",
            [Run.objects.get(code=cut).pk],
        )
    job = start_verification(project)

    perform_verifications()

    job.refresh_from_db()
    found = read_findings(job)
    assert not found.is_whole
    assert [(each["run"], each["seq"]) for each in found.named] == [
        (changed, 2),
        (cut, 2),
    ]
    assert found.named[0]["reason"] == "its payload was changed"
    (missing,) = found.missing
    assert project.slug in missing


def test_a_check_whose_worker_was_killed_goes_on_where_it_was(
    project: Project,
    agent: httpx.Client,
    chains: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [*chains, *make_runs(agent, 3)]
    job = start_verification(project)
    seen: list[str] = []
    killed_at = 2

    def look(run: Run) -> Verification:
        if run.project_id == project.pk:
            if len(seen) == killed_at:
                raise KeyboardInterrupt  # a process that is killed says nothing more
            seen.append(str(run.code))
        return verify_row(run)

    monkeypatch.setattr(whole, "verify_row", look)
    monkeypatch.setattr("ledger.verification.row_checks.BATCH_RUNS", 1)
    monkeypatch.setattr(perform, "SIGN_S", 0)
    with pytest.raises(KeyboardInterrupt):
        perform_verifications()
    job.refresh_from_db()
    assert (job.state, read_findings(job).runs) == ("running", 2)
    lost = timezone.now() - perform.LOST_AFTER - timedelta(seconds=1)
    ProjectVerification.objects.filter(pk=job.pk).update(seen_at=lost)

    killed_at = 99
    perform_verifications()

    job.refresh_from_db()
    assert job.state == "finished"
    assert seen == runs, "None twice, none left out."
    assert read_findings(job).runs == len(runs)


def test_a_long_check_says_that_it_is_at_work(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runs(agent, 2)
    job = start_verification(project)
    own = ProjectVerification.objects.filter(pk=job.pk)
    lost = timezone.now() - perform.LOST_AFTER
    late: list[bool] = []

    def take_long() -> None:
        late.append(own.get(seen_at__isnull=False).seen_at == lost)
        own.update(seen_at=lost)

    def look(run: Run) -> Verification:
        if run.project_id == project.pk:
            beside.submit(take_long).result()
        return verify_row(run)

    monkeypatch.setattr(whole, "verify_row", look)
    monkeypatch.setattr(perform, "SIGN_S", 0)
    with Threads(1) as beside:  # the check itself reads a snapshot
        perform_verifications()
    assert late == [False] * 4


def test_the_thread_beside_gives_its_connection_back(project: Project) -> None:
    """It would be missing in the pool for ever."""
    used: list[BaseDatabaseWrapper] = []

    class Sign(perform.Signs):
        def renew(self) -> None:
            used.append(connections[DEFAULT_DB_ALIAS])
            Project.objects.exists()

    with perform.SignsBeside(Sign.__new__(Sign)) as beside:
        beside.renew()
        (own,) = used
        assert own is not connections[DEFAULT_DB_ALIAS]
        assert own.connection is not None
    assert own.connection is None


def test_the_clock_starts_one_a_day(project: Project, agent: httpx.Client) -> None:
    make_runs(agent, 1)
    now = timezone.now()
    # Those of other tests had theirs, and are not due in what follows.
    others = Project.objects.exclude(pk=project.pk)
    later = ProjectVerification.objects.bulk_create(
        ProjectVerification(project=each, state="finished") for each in others
    )
    late = ProjectVerification.objects.filter(pk__in=[each.pk for each in later])
    late.update(created_at=now + timedelta(days=2))
    start_due_verifications(now)
    own = ProjectVerification.objects.filter(project=project)
    assert own.count() == 1
    perform_verifications()

    start_due_verifications(now + timedelta(hours=23))
    assert own.count() == 1
    start_due_verifications(now + timedelta(hours=25))
    assert own.count() == 2
    assert own.latest("pk").by is None
