"""The pages of runs: filters, search, paging, the timeline, and their price."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.live import updates
from console.live.updates import View
from console.runs import timeline
from console.runs.list import views as list_views
from console.runs.rows import format_short_code, get_live_position
from console.runs.sentences.runs import EVENTS
from ledger.entry_types import list_entry_types
from tests.support.browsing import open_browser
from tests.support.builders import Person, pause_run, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def list_codes(page: str) -> list[str]:
    return re.findall(r'<tr id="run-([0-9a-f-]+)"', page)


def test_every_type_of_entry_reads_as_a_sentence() -> None:
    assert sorted([*timeline.SENTENCES, *EVENTS]) == list_entry_types()


def test_the_newest_run_stands_first_and_filters_narrow_it(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    done, paused, running = (start_run(agent, task=f"Task {n}") for n in range(3))
    agent.post(f"/runs/{done}/finish", json={"outcome": "completed"})
    pause_run(agent, paused)
    client = open_browser(alice.user)

    def found(**query: str) -> list[str]:
        path = f"/p/{project.slug}/runs/"
        return list_codes(client.get(path, query).content.decode())

    assert found() == [running, paused, done]
    assert found(show="running") == [running]
    assert found(show="paused") == [paused]
    assert found(show="finished") == [done]
    assert found(q="task 1") == [paused]
    assert found(q="robo") == [running, paused, done]
    assert found(q=format_short_code(done)) == [done]
    assert found(q=done) == [done]
    assert found(q="%") == []
    assert found(q="nobody\x00") == []
    assert found(show="paused", q="task 0") == []


def test_older_runs_follow_page_by_page(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(list_views, "PAGE", 2)
    made = [start_run(agent) for _ in range(5)]
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/"
    seen: list[str] = []
    query = "?"
    while query:
        page = client.get(path + query).content.decode()
        seen += list_codes(page)
        query = "".join(re.findall(r'href="(\?[^"]*)" rel="next"', page))
        query = query.replace("&amp;", "&")
    assert seen == made[::-1]
    absent = client.get(path, {"cursor": "nonsense"})
    assert len(list_codes(absent.content.decode())) == 2


def test_newer_runs_are_found_again(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(list_views, "PAGE", 2)
    made = [start_run(agent, task=f"Find me {n}") for n in range(6)]
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/"

    def link(page: str, rel: str) -> str:
        found = re.findall(rf'href="(\?[^"]*)" rel="{rel}"', page)
        return "".join(found).replace("&amp;", "&")

    first = client.get(path, {"q": "find"}).content.decode()
    assert link(first, "prev") == ""
    second = client.get(path + link(first, "next")).content.decode()
    third = client.get(path + link(second, "next")).content.decode()
    assert list_codes(third) == made[1::-1]
    assert link(third, "next") == ""
    back = client.get(path + link(third, "prev")).content.decode()
    assert list_codes(back) == list_codes(second) == [made[3], made[2]]
    assert link(back, "next") == link(second, "next")
    # The newest page is the live one, at its own address.
    answer = client.get(path + link(back, "prev"))
    assert (answer.status_code, answer["Location"]) == (302, f"{path}?q=find")
    nowhere = client.get(path, {"cursor": "before.nonsense"})
    assert len(list_codes(nowhere.content.decode())) == 2


def test_the_page_of_a_run_tells_its_story(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, task="Fix it", labels={"repo": "shop"})
    agent.post(f"/runs/{run}/steps", json=step(1, summary="Read the test"))
    agent.post(f"/runs/{run}/checkpoints", json={"step": 1, "label": "Before"})
    pause_run(agent, run, first=2)
    page = open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/")
    text = page.content.decode()
    for words in (
        "Fix it",
        "Run started",
        "Read the test",
        "Checkpoint saved",
        "Waiting for a person",
        "Open the review",
        "Rework ratio",
        f"/runs/{run}/verify/",
        "shop",
    ):
        assert words in text
    assert text.index("Waiting for a person") < text.index("Run started")


def test_older_entries_follow_page_by_page(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.runs.entries.paging.PAGE", 3)
    run = start_run(agent)
    for number in range(1, 6):
        agent.post(f"/runs/{run}/steps", json=step(number))
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/"
    first = client.get(path).content.decode()
    assert re.findall(r'<li id="entry-(\d+)"', first) == ["6", "5", "4"]
    assert 'href="?before=4#timeline"' in first
    second = client.get(path, {"before": "4"}).content.decode()
    assert re.findall(r'<li id="entry-(\d+)"', second) == ["3", "2", "1"]
    assert ">Older<" not in second
    assert 'href="?after=3#timeline"' in second
    newer = client.get(path, {"after": "3"}).content.decode()
    assert re.findall(r'<li id="entry-(\d+)"', newer) == ["6", "5", "4"]
    oldest = client.get(path, {"order": "oldest"}).content.decode()
    assert re.findall(r'<li id="entry-(\d+)"', oldest) == ["1", "2", "3"]
    assert 'href="?order=oldest&amp;after=3#timeline"' in oldest
    assert "hx-ws:connect" in first
    assert "hx-ws:connect" not in second
    assert client.get(path, {"before": "x" * 50}).status_code == 200


def test_the_price_of_the_list_does_not_grow_with_it(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    client = open_browser(alice.user)
    for count in (2, 8):
        for _ in range(count):
            start_run(agent)
        with django_assert_max_num_queries(21):
            client.get(f"/p/{project.slug}/runs/")


def test_the_price_of_the_page_of_a_run_does_not_grow_with_it(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    client = open_browser(alice.user)
    run = start_run(agent)
    for first in (1, 6):
        for number in range(first, first + 5):
            agent.post(f"/runs/{run}/steps", json=step(number))
        with django_assert_max_num_queries(21):
            client.get(f"/p/{project.slug}/runs/{run}/")


def test_a_run_of_another_project_is_absent(
    charlie: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    other = charlie.user.membership_set.get().project
    path = f"/p/{other.slug}/runs/{run}/"
    assert open_browser(charlie.user).get(path).status_code == 404


def test_the_frame_stands_around_these_pages_too(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    pause_run(agent, run)
    start_run(agent)
    client = open_browser(alice.user)
    for path in ("runs/", f"runs/{run}/", "queue/"):
        page = client.get(f"/p/{project.slug}/{path}").content.decode()
        assert 'id="nav-queue-count">1<' in page
        assert "1 running, 1 paused, 0 throttled, 0 stopped" in page
        assert f"{alice.user.username}: account" in page


def test_an_open_timeline_that_missed_a_page_is_drawn_anew(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows put beside the old ones would hide that there are others between them."""
    monkeypatch.setattr("console.runs.entries.paging.PAGE", 3)
    monkeypatch.setattr(updates, "PAGE", 3)
    run = start_run(agent)
    view = View(project_id=project.pk, name="run", run=run)
    for count, swap in ((2, "rowsync"), (3, "innerMorph"), (4, "innerMorph")):
        since = get_live_position(project_id=project.pk)
        last = agent.get(f"/runs/{run}").json()["last_step"]
        for number in range(last + 1, last + count + 1):
            agent.post(f"/runs/{run}/steps", json=step(number))

        told = updates.build_updates([(view, since)])[view, since].text

        assert f'hx-target="#timeline" hx-swap="{swap}"' in told
