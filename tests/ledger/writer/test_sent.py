"""What is sent to PostgreSQL is one transaction, and leaves the connection as it was."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.utils import IntegrityError, OperationalError

from accounts.models import Project
from ledger.models import ProjectHead
from ledger.plan import Statement
from ledger.writer import sql
from ledger.writer.sent import Sent, wait_for_sent
from tests.support.builders import make_project

BUMP = """
UPDATE ledger_projecthead SET position = position + 1 WHERE project_id = $1::bigint
RETURNING project_id
"""
SLEEP = "SELECT 1 FROM pg_sleep(0.2) WHERE $1::bigint > 0"


@pytest.fixture(autouse=True)
def _only_there(database: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite works in the thread that asks it.")


@pytest.fixture
def project(database: None) -> Project:
    project = make_project()
    ProjectHead.objects.get_or_create(project=project, defaults={"position": 0})
    return project


def bump(project: Project) -> Statement:
    return Statement(BUMP, [str(project.pk)])


def sleep(project: Project) -> Statement:
    return Statement(SLEEP, [str(project.pk)])


def get_position(project: Project) -> int:
    return ProjectHead.objects.values_list("position", flat=True).get(project=project)


def test_ids_of_the_last_statement_come_back_after_the_commit(project: Project) -> None:
    before = get_position(project)
    sent = Sent([sleep(project), bump(project)])
    assert not sent.is_done()

    assert sent.read_ids() == {project.pk}

    assert sent.is_done()
    assert get_position(project) == before + 1
    assert sent.read_ids() == {project.pk}  # it is not done twice
    assert get_position(project) == before + 1


def test_the_orm_waits_for_what_was_sent(project: Project) -> None:
    before = get_position(project)
    sent = Sent([sleep(project), bump(project)])

    assert get_position(project) == before + 1

    assert sent.read_ids() == {project.pk}


def test_prepared_statements_wait_for_what_was_sent(project: Project) -> None:
    sent = Sent([sleep(project), bump(project)])

    assert sql.execute("SELECT %s::text", ["as ever"]) == [("as ever",)]

    assert sent.read_ids() == {project.pk}


def test_what_is_sent_next_waits_too(project: Project) -> None:
    before = get_position(project)
    first = Sent([sleep(project), bump(project)])
    second = Sent([bump(project)])

    assert second.read_ids() == first.read_ids() == {project.pk}
    assert get_position(project) == before + 2


def test_if_one_fails_nothing_is_done_and_the_connection_goes_on(
    project: Project,
) -> None:
    before = get_position(project)
    twice = (
        "INSERT INTO ledger_projecthead SELECT * FROM ledger_projecthead WHERE $1 <> ''"
    )
    sent = Sent([bump(project), Statement(twice, ["all of them"]), bump(project)])

    with pytest.raises(IntegrityError):
        sent.read_ids()

    assert get_position(project) == before
    assert Sent([bump(project)]).read_ids() == {project.pk}


def test_a_prepared_statement_that_was_dropped_is_prepared_again(
    project: Project,
) -> None:
    """psycopg drops them all when it rolls back."""
    Sent([bump(project)]).read_ids()
    before = get_position(project)
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert Sent([bump(project)]).read_ids() == {project.pk}

    assert get_position(project) == before + 1


def test_a_statement_that_cannot_be_prepared_is_told_at_once(project: Project) -> None:
    with pytest.raises(Exception, match="nowhere"):
        Sent([Statement("SELECT 1 FROM nowhere WHERE $1 = ''", [""])])

    wait_for_sent()
    assert Sent([bump(project)]).read_ids() == {project.pk}


def test_what_cannot_be_written_leaves_the_connection_as_it_was(
    project: Project,
) -> None:
    with pytest.raises(UnicodeEncodeError):
        Sent([bump(project), Statement("SELECT 1 WHERE $1 = ''", ["\ud800"])])

    assert Sent([bump(project)]).read_ids() == {project.pk}


def test_a_line_that_was_cut_is_told_once_and_the_next_is_new(project: Project) -> None:
    before = get_position(project)
    sent = Sent([sleep(project), bump(project)])
    _cut(connection.connection.info.backend_pid)

    with pytest.raises(OperationalError):
        sent.read_ids()

    assert sent.is_done()
    connection.close()
    assert get_position(project) == before
    assert Sent([bump(project)]).read_ids() == {project.pk}


def _cut(pid: int) -> None:
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    finally:
        other.close()
