"""Hundreds of open reviews, two thousand at night: each can be reached, and every count is that of its list."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from reviews.models import Review, ReviewState, Severity
from reviews.queue.order import PAGE, Queue
from reviews.queue.places import parse_place
from reviews.queue.tally import count_reviews
from tests.reviews.floods import ask_to_run, open_many
from tests.support.browsing import fragment, open_browser
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.examples import ALL, part
from tests.support.people import claim, rule

MANY = part(2_000, least=500)
MIDDLE = MANY // 2 + 7
PUSH_LIMIT = 8 * 1024
ONLY_INDEX = {
    "sqlite": "COVERING INDEX review_by_",
    "postgresql": r"Index Only Scan( Backward)? using review_by_",
}


def rows_in(html: str) -> list[str]:
    return re.findall(r'<li id="review-([0-9a-f-]{36})"', html)


def edge_in(html: str, side: str) -> str:
    found = re.search(rf'id="queue-{side}" href="([^"]+)"', html)
    return unescape(found[1]) if found else ""


def counts_in(html: str) -> dict[str, int]:
    found = re.findall(r'data-count="([a-z]+)">(\d+)<', html)
    return {name: int(count) for name, count in found}


def walk(client: Client, url: str, side: str) -> list[str]:
    """Every row from here on to one side, part by part as a list on screen asks."""
    found: list[str] = []
    while url:
        html = fragment(client, url).content.decode()
        assert len(html) < 250_000
        page = rows_in(html)
        found = found + page if side == "after" else page + found
        url = edge_in(html, side)
    return found


@pytest.mark.timeout(900 if ALL else 300)
def test_each_of_many_is_found_by_paging_and_by_its_link(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=MANY)
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    page = client.get(path).content.decode()
    first = rows_in(page)
    assert first == codes[:PAGE]
    assert first + walk(client, edge_in(page, "after"), "after") == codes
    for number in range(MANY) if ALL else (0, PAGE - 1, PAGE, MIDDLE, MANY - 1):
        linked = client.get(f"{path}{codes[number]}/").content.decode()
        listed = rows_in(linked)
        assert codes[number] in listed
        assert f"{number + 1} of {MANY}</span>" in linked
        start = codes.index(listed[0])
        assert listed == codes[start : start + len(listed)]
        assert bool(edge_in(linked, "before")) == (start > 0)
        assert bool(edge_in(linked, "after")) == (start + len(listed) < MANY)
    linked = client.get(f"{path}{codes[MIDDLE]}/").content.decode()
    above = walk(client, edge_in(linked, "before"), "before")
    assert above + rows_in(linked) == codes[: len(above) + len(rows_in(linked))]


def test_the_same_as_plain_links(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=2 * PAGE + 5)
    client, url = open_browser(alice.user), f"/p/{project.slug}/queue/"
    found: list[str] = []
    while url:
        page = client.get(url).content.decode()
        found += rows_in(page)
        url = edge_in(page, "after")
    assert found == codes


def test_the_api_pages_through_all_of_them_and_tells_the_total(
    project: Project, bob: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    codes = open_many(agent, project, count=MANY, assignees=(None, None, bob.user))
    found: list[str] = []
    query: dict[str, Any] = {"state": "open", "limit": 200}
    while True:
        page = reviewer.get("/reviews", params=query).json()
        assert page["total"] == MANY
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert sorted(found) == sorted(codes)
    mine = reviewer.get("/reviews", params={"assignee": bob.user.username}).json()
    assert mine["total"] == (MANY - 1) // 3
    calls = reviewer.get("/reviews?state=open&kind=confirmation").json()
    assert (calls["total"], calls["items"]) == (0, [])


def test_every_count_is_that_of_its_list(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    open_many(agent, project, count=400, assignees=(None, alice.user, bob.user))
    claim(ask_to_run(agent, "rm -rf a"), bob)
    ask_to_run(agent, "rm -rf b")
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    lists = {}
    for show in ("all", "mine", "unclaimed", "overdue"):
        page = client.get(f"{path}?show={show}").content.decode()
        counts = counts_in(page)
        rows = rows_in(page) + walk(client, edge_in(page, "after"), "after")
        lists[show] = rows
        assert counts[show] == len(rows) == len(set(rows))
        assert sum(counts[each] for each in Severity.values) == len(rows)
        assert not rows or f"1 of {len(rows)}</span>" in page
    mine, unclaimed = set(lists["mine"]), set(lists["unclaimed"])
    claimed = Review.objects.filter(project=project, assignee=bob.user)
    others = {str(code) for code in claimed.values_list("code", flat=True)}
    assert set(lists["all"]) == mine | unclaimed | others
    assert len(lists["all"]) == len(mine) + len(unclaimed) + len(others)


def test_calls_come_before_many_pauses(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_many(agent, project, count=MANY)
    calls = [ask_to_run(agent, f"rm -rf build-{number}") for number in range(2)]
    page = open_browser(alice.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert rows_in(page)[:2] == calls
    assert counts_in(page)["high"] == 2


def test_one_change_pushes_its_row_and_not_the_list(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    many = (None, alice.user)
    open_many(agent, project, count=MANY, assignees=many)
    view = View(project_id=project.pk, name="queue")

    def pushed(since: int) -> str:
        return build_updates([(view, since)])[view, since].text

    since = get_live_position(project_id=project.pk)
    review = ask_to_run(agent, "rm -rf " + "/a/long/path" * 50)
    changes = [pushed(since)]
    assert rows_in(changes[-1]) == [review]
    for act in ("claim", "release"):
        since = get_live_position(project_id=project.pk)
        manager.post(f"/reviews/{review}/{act}")
        changes.append(pushed(since))
        assert rows_in(changes[-1]) == [review]
    since = get_live_position(project_id=project.pk)
    rule(manager, review, "deny")
    changes.append(pushed(since))
    assert f'<li id="review-{review}"' in changes[-1]
    assert "data-gone" in changes[-1]
    assert max(len(text.encode()) for text in changes) < PUSH_LIMIT


def test_one_of_many_calls_of_a_run_pushes_one_row(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    call = {"kind": "command", "tool": "Bash"}
    reviews = [
        agent.post(
            f"/runs/{run}/tool-calls",
            json={**call, "command": f"rm -rf {n} {'x ' * n}"},
        )
        for n in range(5)
    ]
    code = reviews[2].json()["review"]["id"]
    since = get_live_position(project_id=project.pk)
    manager.post(f"/reviews/{code}/claim")
    view = View(project_id=project.pk, name="queue")
    assert rows_in(build_updates([(view, since)])[view, since].text) == [code]


def test_a_step_pushes_numbers_and_not_the_navigation(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    since = get_live_position(project_id=project.pk)
    agent.post(f"/runs/{run}/steps", json={"number": 1, "tokens": 5, "tool_calls": 0})
    view = View(project_id=project.pk, name="queue")
    text = build_updates([(view, since)])[view, since].text
    assert "<a " not in text
    assert len(text.encode()) < 1_500


@pytest.mark.parametrize(
    "edge",
    ["", "x", "1.2", "16.1.01a1e10f-318d-73f3-9c5d-75c2bf552ae6", "1.-1.x", "1.9.9"],
)
def test_an_edge_that_is_none_is_not_found(
    project: Project, alice: Person, agent: httpx.Client, edge: str
) -> None:
    pause_at_once(agent, start_run(agent))
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    assert parse_place(edge) is None
    assert fragment(client, path, after=edge).status_code == 404
    assert len(rows_in(client.get(path, {"after": edge}).content.decode())) == 1


def test_the_edge_tells_how_many_stand_before_it(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=3 * PAGE)
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    linked = client.get(f"{path}{codes[-1]}/").content.decode()
    above = edge_in(linked, "before")
    listed = rows_in(linked)
    Review.objects.filter(code=codes[0]).update(assignee=alice.user)
    Review.objects.filter(code=codes[1]).update(
        state=ReviewState.WITHDRAWN, closed_at=Review.objects.get(code=codes[1]).due_at
    )
    answer = fragment(client, f"{above}&count=1").content.decode()
    assert f'data-beyond="{3 * PAGE - len(listed) - 1}"' in answer
    assert not rows_in(answer)


def test_a_part_is_continued_without_a_gap_after_some_of_it_were_closed(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    """Also where the very row is gone behind which the list goes on."""
    codes = open_many(agent, project, count=2 * PAGE + 3)
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    page = client.get(path).content.decode()
    edge = edge_in(page, "after")
    gone = {codes[0], codes[PAGE - 1], codes[PAGE]}
    Review.objects.filter(code__in=gone).update(
        state=ReviewState.WITHDRAWN, closed_at=timezone.now()
    )

    assert walk(client, edge, "after") == codes[PAGE + 1 :]

    left = [code for code in codes if code not in gone]
    assert rows_in(client.get(path).content.decode()) == left[:PAGE]


def test_a_list_that_fell_behind_fetches_the_part_it_shows(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=3 * PAGE)
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"
    html = fragment(client, path, around=codes[-1]).content.decode()
    assert html.lstrip().startswith('<div id="queue-list"')
    assert codes[-1] in rows_in(html)
    assert fragment(client, path, around="x").status_code == 200


def test_the_price_of_a_part_does_not_grow_with_the_queue(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    client, path = open_browser(alice.user), f"/p/{project.slug}/queue/"

    def prices(codes: list[str]) -> list[int]:
        edge = edge_in(client.get(path).content.decode(), "after")
        counted = []
        for read in (
            partial(client.get, path),
            partial(fragment, client, edge),
            partial(client.get, f"{path}{codes[2 * PAGE]}/"),
        ):
            read()  # policies are read once by a process
            with CaptureQueriesContext(connection) as queries:
                read()
            counted.append(len(queries))
        return counted

    few = prices(open_many(agent, project, count=3 * PAGE))
    many = prices(open_many(agent, project, count=MANY))
    assert few == many
    assert max(many) < 35


def test_the_order_and_the_counts_are_read_from_the_index_alone(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_many(agent, project, count=MANY)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE reviews_review")
    for sort in ("urgency", "due"):
        queue = Queue(project_id=project.pk, viewer_id=alice.user.pk, sort=sort)
        place = queue.get_place(queue.list_first().reviews[-1])
        for found in (
            queue.order_reviews()[:PAGE],
            queue.list_beyond(place, "gt"),
            queue.list_beyond(place, "lt").reverse(),
        ):
            plan = found.values_list("code", flat=True).explain()
            assert re.search(ONLY_INDEX[connection.vendor], plan)
    with CaptureQueriesContext(connection) as queries:
        assert count_reviews(project_id=project.pk).total == MANY
    plans = [_explain(each["sql"]) for each in queries]
    assert len(plans) == 1
    for plan in plans:
        assert re.search(ONLY_INDEX[connection.vendor], plan)


def _explain(query: str) -> str:
    words = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{words} {query}")
        return "\n".join(str(row) for row in cursor.fetchall())
