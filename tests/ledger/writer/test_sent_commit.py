"""A transaction of SQLite is committed in another thread, and leaves the connection as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest
from django.db import connection
from django.db.utils import IntegrityError, OperationalError

from accounts.models import Project
from ledger.models import ProjectHead
from ledger.writer import sent, sql
from ledger.writer.sent import SentCommit
from tests.support.builders import make_project
from tests.support.threads import Threads

BUMP = "UPDATE ledger_projecthead SET position = position + 1 WHERE project_id = ?"
# Whether there is such a project is asked at the commit.
ORPHAN = "INSERT INTO ledger_projecthead (project_id, position, halts_version) VALUES (-1, 0, 0)"


@pytest.fixture(autouse=True)
def _only_there(database: None) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL commits by itself.")


@pytest.fixture
def project(database: None) -> Project:
    project = make_project()
    ProjectHead.objects.get_or_create(project=project, defaults={"position": 0})
    return project


def bump(project: Project, *more: str) -> Callable[[], set[int]]:
    def store() -> set[int]:
        connection.connection.execute(BUMP, [project.pk])
        for text in more:
            connection.connection.execute(text)
        return {project.pk}

    return store


@contextmanager
def committing_late() -> Iterator[Event]:
    """What is committed meanwhile waits for this event, which is set at the end."""
    event = Event()
    sent._thread.commits.submit(event.wait, 20)
    try:
        yield event
    finally:
        event.set()


def get_position(project: Project) -> int:
    return ProjectHead.objects.values_list("position", flat=True).get(project=project)


def get_position_elsewhere(project: Project) -> int:
    with Threads(1) as threads:
        return threads.submit(get_position, project).result(timeout=20)


def test_ids_come_back_after_the_commit_and_nobody_sees_it_before(
    project: Project,
) -> None:
    before = get_position(project)
    with committing_late() as commit:
        under_way = SentCommit(bump(project))
        assert not under_way.is_done()
        assert not under_way.is_done(0.01)
        assert get_position_elsewhere(project) == before
        commit.set()

        assert under_way.read_ids() == {project.pk}

    assert under_way.is_done()
    assert get_position_elsewhere(project) == before + 1
    assert under_way.read_ids() == {project.pk}  # it is not done twice
    assert get_position(project) == before + 1


def test_whatever_else_needs_the_connection_waits(project: Project) -> None:
    before = get_position(project)
    asked: list[Callable[[], object]] = [
        lambda: get_position(project),
        lambda: sql.execute("SELECT %s", ["as ever"]),
        lambda: SentCommit(bump(project)).read_ids(),
    ]
    for ask in asked:
        with Threads(1) as threads, committing_late() as commit:
            under_way = SentCommit(bump(project))
            threads.submit(lambda commit=commit: commit.wait(0.05) or commit.set())

            ask()

            assert commit.is_set()
            assert under_way.is_done()
    assert get_position(project) == before + len(asked) + 1


def test_what_cannot_be_stored_is_told_at_once_and_nothing_is(project: Project) -> None:
    before = get_position(project)

    with pytest.raises(OperationalError, match="nowhere"):
        SentCommit(bump(project, "DELETE FROM nowhere"))

    assert get_position(project) == before
    assert SentCommit(bump(project)).read_ids() == {project.pk}
    assert get_position(project) == before + 1


def test_if_the_commit_fails_nothing_is_stored_and_the_connection_goes_on(
    project: Project,
) -> None:
    before = get_position(project)
    under_way = SentCommit(bump(project, ORPHAN))

    with pytest.raises(IntegrityError):
        under_way.read_ids()

    assert under_way.is_done()
    assert not connection.connection.in_transaction
    assert get_position(project) == before
    assert SentCommit(bump(project)).read_ids() == {project.pk}


def test_where_no_thread_can_be_had_nothing_is_stored(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the process ends."""
    before = get_position(project)
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    with monkeypatch.context() as ending:
        ending.setattr(sent._thread, "commits", ended)
        with pytest.raises(RuntimeError):
            SentCommit(bump(project))

    assert not connection.connection.in_transaction
    assert get_position(project) == before
    assert SentCommit(bump(project)).read_ids() == {project.pk}
