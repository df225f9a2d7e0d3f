"""Reviews that are alike are one row: which ones are, what it counts, and how each is reached."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from reviews.models import Review
from reviews.queue.folds import MEMBERS_SHOWN, find_folds
from reviews.queue.likeness import build_command_outline
from reviews.queue.order import PAGE, Queue
from tests.reviews.floods import ask_to_run, open_many
from tests.support.browsing import fragment, open_browser
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import claim, rule


@pytest.fixture(autouse=True)
def from_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviews.queue.folds.FOLD_FROM", 3)


def rows_in(html: str) -> list[str]:
    """Reviews by their ids, folds by how many they stand for."""
    found = re.findall(
        r'<li id="review-([0-9a-f-]{36})"(?![^>]*data-gone)|<li id="alike-[^>]*data-like="(\d+)"',
        html,
    )
    return [code or count for code, count in found]


def key_of(code: str) -> str:
    return Review.objects.values_list("alike_key", flat=True).get(code=code)


def read_page(project: Project, person: Person, path: str = "", **query: str) -> str:
    client = open_browser(person.user)
    return client.get(f"/p/{project.slug}/queue/{path}", query).content.decode()


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("rm src/a.py", "rm tests/b.py", True),
        ("rm -r src", "rm -f src", False),
        ("rm a", "rm a b", False),
        ("git push --force origin main", "git push --force fork next", True),
        ("git push --force", "git reset --force", False),
        ("rm a; rm b", "rm a; rm c", False),
        ("echo $(rm a)", "echo $(rm b)", False),
    ],
)
def test_commands_that_differ_only_in_what_they_touch_have_one_outline(
    first: str, second: str, alike: bool
) -> None:
    assert (build_command_outline(first) == build_command_outline(second)) is alike


def test_what_is_alike_is_one_row_and_the_rest_stands_alone(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcd"]
    other = ask_to_run(agent, "git push --force origin main")
    pauses = [pause_at_once(agent, start_run(agent)) for _ in range(2)]
    page = read_page(project, alice)
    assert sorted(rows_in(page)) == sorted(["4", other, *pauses])
    assert "<b>4</b> like this" in page
    assert "7</span> waiting" in page
    assert len({key_of(code) for code in calls}) == 1
    assert key_of(pauses[0]) == key_of(pauses[1]) != ""
    each = read_page(project, alice, each="1")
    assert sorted(rows_in(each)) == sorted([*calls, other, *pauses])


def test_an_open_fold_lists_each_and_a_link_into_it_opens_it(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcd"]
    closed = read_page(project, alice)
    toggle = unescape(re.findall(r'class="iconbtn unfold" href="([^"]+)"', closed)[0])
    answer = fragment(open_browser(alice.user), toggle).content.decode()
    assert rows_in(answer) == ["4", *calls]
    assert 'aria-expanded="true"' in answer
    linked = read_page(project, alice, f"{calls[2]}/")
    assert rows_in(linked) == ["4", *calls]
    assert "3 of 4</span>" in linked
    assert 'aria-expanded="false"' in read_page(project, alice, f"{calls[0]}/")
    alike = read_page(project, alice, q=f"like:{key_of(calls[0])}")
    assert rows_in(alike) == calls


def test_critical_reviews_are_never_folded(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcd"]
    Review.objects.filter(code__in=calls).update(severity="critical", urgency=0)
    assert rows_in(read_page(project, alice)) == calls


def test_a_fold_counts_what_its_list_lets_in(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcdefg"]
    for code in calls[:3]:
        claim(code, bob)
    assert rows_in(read_page(project, alice)) == ["7"]
    assert rows_in(read_page(project, bob, show="mine")) == ["3"]
    assert rows_in(read_page(project, alice, show="unclaimed")) == ["4"]
    assert rows_in(read_page(project, alice, q="claimed:no")) == ["4"]
    assert rows_in(read_page(project, alice, sort="age")) == ["7"]
    claim(calls[2], alice)
    assert rows_in(read_page(project, bob, show="mine")) == calls[:2]


def test_many_alike_are_one_row_and_every_one_is_counted(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=500)
    Review.objects.filter(code__in=codes[50:450]).update(alike_key="a" * 16)
    Review.objects.filter(code=codes[-1]).update(alike_key="")
    page = read_page(project, alice)
    assert "500</span> waiting" in page
    assert rows_in(page) == [*codes[:50], "400", *codes[450:499]]
    assert ">1 more</a>" in page
    last = read_page(project, alice, f"{codes[440]}/")
    assert len(rows_in(last)) == PAGE + MEMBERS_SHOWN
    assert f"{400 - MEMBERS_SHOWN} more like this" in last


def test_the_parts_of_a_list_have_each_row_once(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    """Also where the members of a fold stand behind the edge of its part."""
    codes = open_many(agent, project, count=2 * PAGE + 40)
    alike = codes[5::6]
    Review.objects.filter(code__in=alike).update(alike_key="b" * 16)
    client, url = open_browser(alice.user), f"/p/{project.slug}/queue/"
    found: list[str] = []
    while url:
        page = client.get(url).content.decode()
        found += rows_in(page)
        following = re.search(r'id="queue-after" href="([^"]+)"', page)
        url = unescape(following[1]) if following else ""
    alone = [code for code in codes if code not in alike]
    assert found == [*alone[:5], str(len(alike)), *alone[5:]]
    linked = client.get(f"/p/{project.slug}/queue/{alone[-1]}/").content.decode()
    assert f"{len(codes)} of {len(codes)}</span>" in linked


def pushed(project: Project, since: int) -> str:
    view = View(project_id=project.pk, name="queue")
    return build_updates([(view, since)])[view, since].text


def test_a_change_pushes_the_fold_with_its_new_count(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    manager: httpx.Client,
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "ab"]
    since = get_live_position(project_id=project.pk)
    calls.append(ask_to_run(agent, "rm -rf build/c"))
    calls.append(ask_to_run(agent, "rm -rf build/d"))
    text = pushed(project, since)
    assert rows_in(text) == ["4"]
    assert len(text.encode()) < 8 * 1024
    since = get_live_position(project_id=project.pk)
    rule(manager, calls[0], "deny")
    text = pushed(project, since)
    assert rows_in(text) == ["3"]
    assert f'data-open-row="{calls[1]}"' in text
    since = get_live_position(project_id=project.pk)
    rule(manager, calls[1], "deny")
    text = pushed(project, since)
    assert sorted(rows_in(text)) == sorted(calls[2:])
    assert re.search(rf'id="alike-{key_of(calls[0])}" [^>]*data-gone', text)
    assert len(text.encode()) < 8 * 1024


def test_folds_cost_the_same_for_many_and_are_read_from_the_index_alone(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=600)
    for number in range(20):
        alike = codes[number::40]
        Review.objects.filter(code__in=alike).update(alike_key=f"{number:016x}")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE reviews_review")
    queue = Queue(project_id=project.pk, viewer_id=alice.user.pk)
    with CaptureQueriesContext(connection) as queries:
        folds = find_folds(queue.list_reviews(), sort=queue.sort)
    assert [fold.count for fold in folds] == [15] * 20
    assert len(queries) == 1
    words = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{words} {queries[0]['sql']}")
        plan = "\n".join(str(row) for row in cursor.fetchall())
    assert re.search("COVERING INDEX review_by_|Index Only Scan using review_by_", plan)
    client = open_browser(alice.user)
    client.get(f"/p/{project.slug}/queue/")
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/p/{project.slug}/queue/")
    assert len(queries) < 28
