"""What needs somebody, among much that nearly does: each leg of each question by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import SYSTEM_SETTINGS, Project
from console.overview.links import Links
from console.overview.needs.ledger import STALE_AFTER, find_ledger_state
from console.overview.needs.limits import UsedLimit, find_near_limits
from console.overview.needs.need import Need
from console.overview.needs.reviews import SOON, find_late_reviews
from console.overview.needs.runs import find_failing, find_silent, find_stopped
from ledger.models import FINAL, ProjectVerification, Run
from reviews.models import Review
from tests.conftest import client_for
from tests.support.builders import make_project, make_robot, pause_at_once, start_run
from tests.support.live import Live

LINKS = Links(slug="shop", manages=True)


@pytest.fixture
def other(live: Live, project: Project) -> Iterator[httpx.Client]:
    """A second agent of the project."""
    with client_for(live, make_robot("other", project=project)) as client:
        yield client


@pytest.fixture
def stranger(live: Live) -> Iterator[httpx.Client]:
    """An agent of another project, by the name of ours."""
    with client_for(live, make_robot("robo", project=make_project())) as client:
        yield client


def put(client: httpx.Client, **values: Any) -> None:
    """A run with these values in its row."""
    if values.get("status") in FINAL:
        values["finished_at"] = timezone.now()
    code = start_run(client)
    assert Run.objects.filter(code=code).update(**values) == 1


def tell(needs: Iterator[Need]) -> list[tuple[str, str]]:
    return [(each.title, each.about) for each in needs]


def test_runs_are_silent_that_should_be_working(
    agent: httpx.Client,
    other: httpx.Client,
    stranger: httpx.Client,
    project: Project,
) -> None:
    at = timezone.now()
    old, edge = at - timedelta(hours=2), at - timedelta(minutes=30)
    working = {"status": "running", "created_at": old}

    def find() -> list[tuple[str, str]]:
        return tell(find_silent(project_id=project.pk, at=at, links=LINKS))

    clocked = {"running_ms": 5, "running_since": old}
    idle = {"running_ms": 5, "running_since": None}
    for values in (
        # Its session waits for a prompt: a coding agent that has nothing to tell.
        {**working, "updated_at": old, **idle},
        {**working, **clocked, "updated_at": edge + timedelta(seconds=1)},
        {**working, **clocked, "updated_at": old, "status": "paused"},
        {**working, **clocked, "updated_at": old, "intent": SYSTEM_SETTINGS},
    ):
        put(agent, **values)
    put(stranger, **working, **clocked, updated_at=old)
    assert find() == []

    put(agent, **working, **clocked, updated_at=edge)
    assert find() == [("1 run silent", "robo, up to 30 m 0 s")]
    # Where no clock is kept, nothing says that it waits.
    unclocked = {"running_ms": None, "running_since": None}
    put(other, **working, **unclocked, updated_at=old)
    put(other, **working, **clocked, updated_at=edge)
    assert find() == [("3 runs silent", "other, robo, up to 2 h")]


def test_stopped_runs_name_the_agent_of_the_newest_first(
    agent: httpx.Client,
    other: httpx.Client,
    stranger: httpx.Client,
    project: Project,
) -> None:
    def find() -> list[tuple[str, str]]:
        return tell(find_stopped(project_id=project.pk, links=LINKS))

    put(stranger, status="stopped")
    put(agent, status="aborted")
    put(agent, status="stopped", intent=SYSTEM_SETTINGS)
    assert find() == []
    put(agent, status="stopped")
    put(agent, status="stopped")
    put(other, status="stopped")
    assert find() == [("3 runs stopped", "other, robo")]
    put(agent, status="stopped")
    assert find() == [("4 runs stopped", "robo, other")]


def test_an_agent_keeps_failing_by_its_last_five_runs(
    agent: httpx.Client,
    other: httpx.Client,
    stranger: httpx.Client,
    project: Project,
) -> None:
    def find() -> list[tuple[str, str]]:
        return tell(find_failing(project_id=project.pk, links=LINKS))

    def end(client: httpx.Client, *statuses: str) -> None:
        for status in statuses:
            put(client, status=status)

    end(stranger, "failed", "failed", "failed")
    end(agent, "failed", "failed", "completed", "completed", "completed", "failed")
    assert find() == [], "of the last five two failed"
    end(agent, "failed")
    assert find() == [], "still two: the oldest are not looked at any more"
    end(agent, "failed", "running", "stopped")
    said = "3 of its last 5 runs failed"
    assert find() == [("robo keeps failing", said)], "what goes on has not ended"
    end(other, "failed", "failed", "failed")
    assert find() == [("2 agents keep failing", "other, robo")], "by name among equals"
    end(agent, "failed")
    assert find() == [("2 agents keep failing", "robo, other")]


def test_late_reviews_name_the_oldest_and_soon_ones_the_first(
    agent: httpx.Client,
    stranger: httpx.Client,
    project: Project,
) -> None:
    at = timezone.now() + timedelta(hours=1)

    def add(client: httpx.Client, title: str, due: timedelta) -> str:
        code = pause_at_once(client, start_run(client))
        Review.objects.filter(code=code).update(title=title, answer_by=at + due)
        return code

    def find() -> list[tuple[str, str]]:
        return tell(find_late_reviews(project_id=project.pk, at=at, links=LINKS))

    minute = timedelta(minutes=1)
    add(stranger, "Elsewhere", -minute)
    add(agent, "Later", SOON + timedelta(seconds=1))
    closed = add(agent, "Closed", -minute)
    Review.objects.filter(code=closed).update(state="expired", closed_at=at)
    assert find() == []
    add(agent, "Soon", SOON)
    add(agent, "Sooner", 3 * minute)
    add(agent, "Now", timedelta())
    add(agent, "Long ago", -20 * minute)
    add(agent, "Just now", -minute)
    assert find() == [
        ("3 reviews past due", "Oldest 20 m 0 s, Long ago"),
        ("2 reviews due soon", "First in 3 m 0 s, Sooner"),
    ]


@pytest.mark.parametrize(
    ("used", "title", "percent"),
    [
        (899_999, None, 89),
        (900_000, "Project near its limit", 90),
        (999_999, "Project near its limit", 99),
        (1_000_000, "Project over its limit", 100),
        (1_999_999, "Project over its limit", 199),
    ],
)
def test_a_limit_is_near_or_reached_when_all_of_it_is(
    used: int, title: str | None, percent: int
) -> None:
    """Nothing is rounded up: less than a percent is left of the third."""
    limit = UsedLimit(
        agent="", scope="project_day", part="tokens", used=used, limit=1_000_000
    )
    assert limit.percent == percent
    found = find_near_limits([limit], links=LINKS)
    assert [each.title for each in found] == ([title] if title else [])


def test_a_limit_of_nothing_is_reached() -> None:
    limit = UsedLimit(agent="", scope="project_day", part="tokens", used=0, limit=0)
    assert (limit.percent, limit.is_reached) == (100, True)


def test_the_newest_finished_check_of_the_ledger_counts(project: Project) -> None:
    at = timezone.now()

    def add(**values: Any) -> None:
        row = {"project": project, "state": "finished", "ended_at": at, **values}
        ProjectVerification.objects.create(**row)

    def find(later: timedelta = timedelta()) -> list[str]:
        needs = find_ledger_state(project_id=project.pk, at=at + later, links=LINKS)
        return [each.title for each in needs]

    add(project=make_project(), result='{"entries": 1, "broken": 1}')
    add(state="running", ended_at=None)
    assert find() == []
    add(result='{"entries": 1, "broken": 1}', ended_at=at - timedelta(days=1))
    add(result='{"entries": 1}')
    add(state="failed", result='{"entries": 1, "broken": 1}')
    assert find() == ["Ledger verified"]
    assert find(STALE_AFTER) == ["Ledger verified"]
    assert find(STALE_AFTER + timedelta(seconds=1)) == ["Ledger not checked lately"]
