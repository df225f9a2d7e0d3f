"""What an open page is sent: of its own project, once, and whole where too much came."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from accounts.models import Project
from console.live import updates
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from ledger.models import Entry
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.shadow.watching import watch
from tests.support.builders import (
    Person,
    Robot,
    make_project,
    make_robot,
    pause_run,
    start_run,
    step,
)
from tests.support.live import Live

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def elsewhere(live: Live) -> Iterator[tuple[Project, httpx.Client]]:
    """Another project, with an agent of its own."""
    project = make_project()
    robot: Robot = make_robot("robo", project=project)
    with client_for(live, robot) as client:
        yield project, client


def tell(project: Project, name: str, since: int, run: str = "") -> str:
    view = View(project_id=project.pk, name=name, run=run)
    found = build_updates([(view, since)])
    return found[view, since].text if found else ""


def touched(text: str) -> str:
    found = re.search(r'data-touched="([^"]*)"', text)
    assert found is not None
    return found[1]


def test_what_happens_elsewhere_is_not_told(
    project: Project, agent: httpx.Client, elsewhere: tuple[Project, httpx.Client]
) -> None:
    other, stranger = elsewhere
    start_run(agent)
    here, there = (get_live_position(project_id=each.pk) for each in (project, other))
    foreign = start_run(stranger)
    for number in range(1, here + 5):  # positions of both overlap
        stranger.post(f"/runs/{foreign}/steps", json=step(number))
    review = pause_run(stranger, start_run(stranger))["review"]["id"]
    assert tell(project, "queue", here) == ""
    assert f"review-{review}" in tell(other, "queue", there)

    run = start_run(agent)
    for name in ("queue", "runs", "permissions", "loop"):
        told = tell(project, name, 0)
        assert review not in told
        assert foreign not in told
        assert touched(told) == "", name
    assert run in tell(project, "runs", here)
    # The page of a run of another project is not drawn here.
    assert "#timeline" not in tell(project, "run", here, run=foreign)
    assert "#timeline" in tell(other, "run", there, run=foreign)


def test_each_view_is_sent_what_it_shows(project: Project, agent: httpx.Client) -> None:
    run = start_run(agent)
    since = get_live_position(project_id=project.pk)
    agent.post(f"/runs/{run}/steps", json=step(1))
    for name in ("queue", "permissions", "loop", "shadow", "gates", "webhooks"):
        told = tell(project, name, since)
        assert touched(told) == "", name
        assert "#queue-counts" not in told
        assert "#nav-queue-count" in told
        assert "#fleet" in told
        assert told.rindex("#live-cursor") > told.rindex("#fleet"), "it comes last"
    command(agent, run)
    assert touched(tell(project, "permissions", since)) == "", "none was used"
    assert "#queue-counts" in tell(project, "queue", since)


def test_a_page_of_a_draft_in_shadow_fetches_itself_where_the_two_differ(
    project: Project, agent: httpx.Client, alice: Person
) -> None:
    watch(project, alice, {"continue": {"max_uncertainty": 0.4}})
    run = start_run(agent)
    since = get_live_position(project_id=project.pk)
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert touched(tell(project, "shadow", since)) == ""
    agent.post(f"/runs/{run}/steps", json=step(2, uncertainty=0.5))
    assert touched(tell(project, "shadow", since)) == "*"


def test_too_much_is_not_told_but_fetched(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = get_live_position(project_id=project.pk)
    reviews = [pause_run(agent, start_run(agent))["review"]["id"] for _ in range(2)]
    monkeypatch.setattr(updates, "ROWS_LIMIT", 2)
    assert set(touched(tell(project, "queue", since)).split()) == set(reviews)
    assert touched(tell(project, "runs", since)) == ""
    monkeypatch.setattr(updates, "ROWS_LIMIT", 1)
    for name in ("queue", "runs"):
        told = tell(project, name, since)
        assert touched(told) == "*"
        assert reviews[0] not in told

    position = get_live_position(project_id=project.pk)
    monkeypatch.setattr(updates, "ROWS_LIMIT", 100)
    monkeypatch.setattr(updates, "ENTRIES_LIMIT", position - since)
    assert touched(tell(project, "runs", since)) == ""
    monkeypatch.setattr(updates, "ENTRIES_LIMIT", position - since - 1)
    for name in ("queue", "runs", "permissions", "loop", "shadow"):
        assert touched(tell(project, name, since)) == "*", name
    # A cursor of another database is ahead of this one.
    assert touched(tell(project, "runs", position + 1)) == "*"
    assert tell(project, "runs", position) == ""


def test_a_review_that_was_closed_leaves_the_list(
    project: Project, agent: httpx.Client
) -> None:
    run = start_run(agent)
    body = {"kind": "question", "title": "Which?"}
    review = agent.post(f"/runs/{run}/reviews", json=body).json()["id"]
    since = get_live_position(project_id=project.pk)
    assert f"review-{review}" in tell(project, "queue", 0)
    agent.post(f"/reviews/{review}/withdraw")
    told = tell(project, "queue", since)
    assert touched(told) == review
    assert "Which?" not in told
    assert f"review-{review}" in told, "its row is told to go"


def test_the_page_of_a_run_gets_what_is_new_in_it(
    project: Project, agent: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, summary="the first one"))
    since = get_live_position(project_id=project.pk)
    other = start_run(agent)
    assert "#timeline" not in tell(project, "run", since, run=run)
    agent.post(f"/runs/{run}/steps", json=step(2, summary="the second one"))
    told = tell(project, "run", since, run=run)
    assert 'hx-target="#timeline" hx-swap="rowsync"' in told
    assert "the second one" in told
    assert "the first one" not in told
    assert other not in told
    newest = Entry.objects.filter(run__code=run).order_by("-seq")[0]
    assert newest.type == "step.judged"
    # Of another database: the whole page of it.
    anew = tell(project, "run", 10**6, run=run)
    assert 'hx-target="#timeline" hx-swap="innerMorph"' in anew
    assert "the first one" in anew
