"""The query box of the queue: what each word narrows, its counts, and views that are kept."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.models import SavedPage, SavedView
from console.queue.query import build_filter, parse_query
from reviews.models import Review
from tests.reviews.floods import ask_to_run
from tests.support.browsing import fragment, open_browser
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import claim


@pytest.fixture
def opened(agent: httpx.Client, bob: Person) -> dict[str, str]:
    run = start_run(agent, task="Tidy the cellar", labels={"repo": "shop"})
    reviews = {
        "push": ask_to_run(agent, "git push --force origin main"),
        "drop": ask_to_run(agent, "dropdb production"),
        "pause": pause_at_once(agent, run),
    }
    claim(reviews["push"], bob)
    late = timezone.now() - timedelta(minutes=1)
    Review.objects.filter(code=reviews["pause"]).update(answer_by=late)
    return reviews


def rows_in(html: str) -> list[str]:
    return re.findall(r'<li id="review-([0-9a-f-]{36})"', html)


def counts_in(html: str) -> dict[str, int]:
    found = re.findall(r'data-count="([a-z]+)">(\d+)<', html)
    return {name: int(count) for name, count in found}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", ["drop", "push", "pause"]),
        ("severity:critical,high", ["drop", "push"]),
        ("kind:pause", ["pause"]),
        ("label:repo=shop", ["pause"]),
        ("claimed:no", ["drop", "pause"]),
        ("assignee:me", ["push"]),
        ("overdue:yes", ["pause"]),
        ("cellar", ["pause"]),
        ("force severity:high", ["push"]),
        ("agent:nobody", []),
    ],
)
def test_a_query_narrows_the_list_and_its_counts(
    project: Project, bob: Person, opened: dict[str, str], line: str, names: list[str]
) -> None:
    client = open_browser(bob.user)
    url = f"/p/{project.slug}/queue/"
    for answer in (client.get(url, {"q": line}), fragment(client, url, q=line)):
        html = answer.content.decode()
        assert rows_in(html) == [opened[name] for name in names]
    page = client.get(url, {"q": line}).content.decode()
    counts = counts_in(page)
    assert counts["all"] == len(names)
    assert counts["mine"] == names.count("push")
    assert counts["overdue"] == names.count("pause")
    assert counts["total"] == 3
    assert ('class="pill"' in page) is bool(line)
    assert (" data-filtered" in page) is bool(line)


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("urgency", ["drop", "push", "pause"]),
        ("age", ["push", "drop", "pause"]),
        ("due", ["pause", "drop", "push"]),
        ("nonsense", ["drop", "push", "pause"]),
    ],
)
def test_the_order_stands_in_the_address(
    project: Project, bob: Person, opened: dict[str, str], sort: str, names: list[str]
) -> None:
    page = open_browser(bob.user).get(f"/p/{project.slug}/queue/", {"sort": sort})
    html = page.content.decode()
    assert rows_in(html) == [opened[name] for name in names]
    assert html.count("<ul data-group=") == (1 if sort in ("age", "due") else 4)


def test_rows_tell_what_is_at_stake(
    project: Project, bob: Person, opened: dict[str, str]
) -> None:
    html = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert "Tidy the cellar" in html
    assert "git-push-force" in html or "git push force" in html
    assert "1 m late" in html
    assert re.search(r"\d+ m left", html)


def test_a_word_that_is_none_is_named_and_the_rest_counts(
    project: Project, bob: Person, opened: dict[str, str]
) -> None:
    page = open_browser(bob.user).get(
        f"/p/{project.slug}/queue/", {"q": "severity:awful kind:pause"}
    )
    html = page.content.decode()
    assert "“awful” is no value of severity. It takes critical, high" in html
    assert rows_in(html) == [opened["pause"]]


def test_what_is_written_is_what_is_read() -> None:
    query = parse_query('agent:"a b" severity:HIGH claimed:no "two words"')
    assert str(parse_query(str(query))) == str(query)
    wanted = build_filter(query, viewer="bob")
    assert (wanted.agents, wanted.severities) == (("a b",), ("high",))
    assert (wanted.claimed, wanted.texts) == (False, ("two words",))
    assert parse_query("claimed:no claimed:yes").errors
    assert parse_query("run:abc").errors


def test_a_view_of_the_queue_is_kept_beside_those_of_the_runs(
    project: Project, alice: Person, bob: Person, opened: dict[str, str]
) -> None:
    client, url = open_browser(alice.user), f"/p/{project.slug}/queue/"
    kept = {"name": "Calls", "q": "kind:confirmation", "sort": "age", "shared": "on"}
    assert client.post(f"{url}views/", kept).status_code == 302
    view = SavedView.objects.get(project=project)
    assert (view.page, view.name) == (SavedPage.QUEUE, "Calls")
    assert view.address == "sort=age&q=kind%3Aconfirmation"
    for person in (alice, bob):
        page = open_browser(person.user).get(url).content.decode()
        assert "Calls" in page
    runs = client.get(f"/p/{project.slug}/runs/").content.decode()
    assert "Calls" not in runs
    theirs = {**kept, "q": "status:failed"}
    assert client.post(f"/p/{project.slug}/runs/views/", theirs).status_code == 302
    assert SavedView.objects.filter(project=project, name="Calls").count() == 2
    shown = client.get(f"{url}?{view.address}").content.decode()
    assert "Remove “Calls”" in shown
    assert client.post(f"{url}views/{view.code}/remove/").status_code == 302
    left = SavedView.objects.get(project=project)
    assert left.page == SavedPage.RUNS
    gone = client.post(f"{url}views/{left.code}/remove/")
    assert gone.status_code == 404


def test_a_query_that_is_wrong_is_not_kept(project: Project, alice: Person) -> None:
    answer = open_browser(alice.user).post(
        f"/p/{project.slug}/queue/views/", {"name": "A", "q": "severity:awful"}
    )
    assert answer.status_code == 422
    assert "awful" in answer.content.decode()
