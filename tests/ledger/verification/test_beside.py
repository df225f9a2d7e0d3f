"""A whole check while others write, and while the database is busy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection

from accounts.models import AgentKey, Project, Role
from common.append_only import list_faults
from ledger.jobs import perform
from ledger.management.commands import ledger_verify
from ledger.models import ProjectVerification, Run
from ledger.verification import row_checks, snapshot
from ledger.verification.project import (
    perform_verifications,
    read_findings,
    start_verification,
)
from ledger.verification.row_checks import Mismatch
from reviews.administration.agents.keys import make_key, revoke_keys
from reviews.administration.own.sign_ins import change_own_password
from reviews.administration.people.services import change_role
from reviews.administration.project.services import create_project
from tests.conftest import client_for
from tests.gateway.calls.calls import command, settle
from tests.support.builders import (
    Person,
    Robot,
    make_robot,
    start_run,
    step,
    unique,
)
from tests.support.live import Live
from tests.support.processes import manage, up
from tests.support.threads import Threads

WRITERS = 6
CHECKS = 3
PAUSE_SECONDS = 0.2


@pytest.fixture(autouse=True)
def quick(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_verify, "list_project_ids", lambda: [project.pk])
    monkeypatch.setattr(snapshot, "REST_S", 0)
    monkeypatch.setattr(perform, "SIGN_S", 0)


def work(live: Live, robot: Robot, done: Event) -> int:
    """Runs with children, steps and calls, until somebody says that it is enough."""
    count = 0
    with client_for(live, robot) as client:
        # With pauses: what six write without any takes minutes to be checked.
        while not done.wait(PAUSE_SECONDS):
            run = start_run(client)
            child = start_run(client, parent_run=run)
            for number in range(1, 5):
                for code in (run, child):
                    answer = client.post(f"/runs/{code}/steps", json=step(number))
                    assert answer.status_code == 201, answer.text
                settle(client, child, command(client, child, "ls"), tokens=5)
                count += 1
    return count


def administer(cleo: Person, bob: Person, robot: Robot, done: Event) -> int:
    """Roles, keys, and passwords of a person who is in several projects."""
    count = 0
    project_id, by = robot.principal.project_id, cleo.principal
    agent = AgentKey.objects.get(
        agent__name=robot.name, agent__project=project_id
    ).agent
    while not done.is_set():
        for role in (Role.MANAGER, Role.REVIEWER):
            change_role(project_id=project_id, code=by_code(bob), role=role, by=by)
        key, _ = make_key(agent=agent, by=by, name="k", scopes=["evaluate"])
        cleo.user.refresh_from_db()
        change_own_password(user=cleo.user, password=unique("a long password"))
        revoke_keys(agent=agent, by=by, keys=[key])
        count += 1
    return count


def by_code(person: Person) -> str:
    return str(person.user.code)


def test_nothing_that_goes_on_meanwhile_is_an_alarm(
    live: Live,
    project: Project,
    robo: Robot,
    bob: Person,
    cleo: Person,
    capsys: pytest.CaptureFixture[str],
) -> None:
    robots = [robo, *(make_robot(unique("r"), project=project) for _ in range(5))]
    create_project(by=cleo.principal, name="Other", slug=unique("other"))
    done = Event()
    with Threads(WRITERS + 1) as pool:
        working = [pool.submit(work, live, each, done) for each in robots]
        working.append(pool.submit(administer, cleo, bob, robo, done))
        try:
            for _ in range(CHECKS):
                call_command("ledger_verify")
                job = start_verification(project)
                perform_verifications()
                job.refresh_from_db()
                assert job.state == "finished", job.reason
                assert read_findings(job).is_whole, read_findings(job)
        except SystemExit:
            pytest.fail(capsys.readouterr().err)
        finally:
            done.set()
        counts = [each.result(timeout=120) for each in working]
    assert all(counts), counts
    call_command("ledger_verify")
    assert "trying again" not in capsys.readouterr().err


def test_processes_write_while_another_one_checks(
    database: None, tmp_path: Path
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The embedded profile is on SQLite.")
    data = {"CHECKRAIL_DATA": str(tmp_path)}
    done = Event()
    with up(tmp_path) as server, Threads(WRITERS + 1) as pool:
        made = [
            manage("agent_key", f"r{number}", "--project", "p", "--json", **data)
            for number in range(WRITERS - 1)
        ]
        keys = [json.loads(each.stdout)["key"] for each in made]
        robots = [Robot(name="r", key=key) for key in keys]
        working = [pool.submit(work, server.live, each, done) for each in robots]

        def add_people() -> int:
            """By processes of their own, beside the server."""
            count = 0
            while not done.is_set():
                role = ("reviewer", "manager")[count % 2]
                words = ("user_add", "rex", "--role", role, "--project", "p")
                added = manage(*words, "--json", **data)
                assert added.returncode == 0, added.stderr
                count += 1
            return count

        working.append(pool.submit(add_people))
        try:
            for _ in range(2):
                checked = manage("ledger_verify", **data)
                assert checked.returncode == 0, checked.stderr
        finally:
            done.set()
        assert all(each.result(timeout=120) for each in working)


def be_busy(times: int, *, run: int) -> Callable[[Sequence[int]], list[Mismatch]]:
    """A comparison of this run that the database does not answer, so many times: jobs of
    other projects may wait in the same database."""
    left = [times]

    def compare(ids: Sequence[int]) -> list[Mismatch]:
        if run not in ids or not left[0]:
            return []
        left[0] -= 1
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        raise OperationalError("database is locked")

    return compare


def start(agent: httpx.Client) -> int:
    return Run.objects.get(code=start_run(agent)).pk


def test_a_busy_database_is_tried_again(
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = start(agent)
    before = row_checks._comparisons
    monkeypatch.setattr(row_checks, "_comparisons", [*before, be_busy(2, run=run)])
    call_command("ledger_verify")
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["The database was busy, trying again."] * 2
    runs = Run.objects.filter(project=project).count()
    assert shown.out.startswith(f"{runs} runs, ")

    monkeypatch.setattr(row_checks, "_comparisons", [*before, be_busy(99, run=run)])
    with pytest.raises(CommandError, match="busy each time"):
        call_command("ledger_verify")


def test_it_is_busy_from_the_first_question_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = [1]

    def look() -> list[str]:
        if left and left.pop():
            raise OperationalError("database is locked")
        return list_faults()

    monkeypatch.setattr(ledger_verify, "list_faults", look)
    call_command("ledger_verify")
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["The database was busy, trying again."]
    assert "0 broken" in shown.out


def test_a_job_says_so_too(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(agent)
    before = row_checks._comparisons
    told: list[str] = []

    def look(ids: Sequence[int]) -> list[Mismatch]:
        if run in ids:
            with Threads(1) as beside:  # this one reads a snapshot
                told.append(beside.submit(own.values_list("reason").get).result()[0])
        return []

    monkeypatch.setattr(
        row_checks, "_comparisons", [*before, look, be_busy(1, run=run)]
    )
    job = start_verification(project)
    own = ProjectVerification.objects.filter(pk=job.pk)
    perform_verifications()
    job.refresh_from_db()
    assert told == ["", "The database was busy, trying again."]
    assert (job.state, job.reason) == ("finished", "")
    assert read_findings(job).runs == Run.objects.filter(project=project).count()

    monkeypatch.setattr(row_checks, "_comparisons", [*before, be_busy(99, run=run)])
    failed = start_verification(project)
    perform_verifications()
    failed.refresh_from_db()
    assert failed.state == "failed"
    assert failed.reason == snapshot.GAVE_UP
