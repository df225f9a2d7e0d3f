"""The queue's pages: who sees what, in which group, at what price."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from reviews.selectors import get_visible_review
from tests.support.browsing import fragment, open_browser
from tests.support.builders import Person, pause_run, start_run, step
from tests.support.people import claim

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def open_pause(agent: httpx.Client, **more: Any) -> str:
    code: str = pause_run(agent, start_run(agent, **more))["review"]["id"]
    return code


def test_a_stranger_is_sent_to_the_sign_in_and_an_outsider_finds_nothing(
    project: Project, charlie: Person, agent: httpx.Client
) -> None:
    review = open_pause(agent)
    outsider = open_browser(charlie.user)
    for path in ("queue/", f"queue/{review}/", "runs/"):
        address = f"/p/{project.slug}/{path}"
        assert outsider.get(address).status_code == 404
        outsider.logout()
        asked = outsider.get(address)
        assert asked.status_code == 302
        assert asked["Location"].startswith("/sign-in/?next=%2Fp%2F")
        outsider.force_login(charlie.user)


def test_a_fragment_without_a_session_sends_the_whole_page_to_the_sign_in(
    project: Project, alice: Person
) -> None:
    client = open_browser(alice.user)
    client.logout()
    answer = fragment(client, f"/p/{project.slug}/queue/")
    assert answer.status_code == 401
    assert answer["HX-Redirect"].startswith("/sign-in/?next=")


def test_the_longest_wait_is_open_beside_the_list(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = open_pause(agent, task="One"), open_pause(agent, task="Two")
    answer = open_browser(alice.user).get(f"/p/{project.slug}/queue/")
    page = answer.content.decode()
    assert page.index(f"review-{first}") < page.index(f"review-{second}")
    assert re.search(f'id="detail" data-code="{first}"', page)
    assert "(2) Review queue" in page
    assert "no-store" in answer["Cache-Control"]


def test_filters_work_as_plain_links(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    mine, his = open_pause(agent), open_pause(agent)
    claim(mine, alice)
    claim(his, bob)
    free = open_pause(agent)
    client = open_browser(alice.user)

    def shown(show: str) -> set[str]:
        page = client.get(
            f"/p/{project.slug}/queue/", {"show": show, "each": "1"}
        ).content.decode()
        return set(re.findall(r'<li id="review-([0-9a-f-]+)"', page))

    assert shown("all") == {mine, his, free}
    assert shown("mine") == {mine}
    assert shown("unclaimed") == {free}
    assert shown("nonsense") == {mine, his, free}


def test_a_claim_moves_nothing(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    """The order is that of the risk, the same for everybody."""
    first, second = open_pause(agent), open_pause(agent)
    claim(first, bob)
    for viewer in (alice, bob):
        page = open_browser(viewer.user).get(f"/p/{project.slug}/queue/")
        html = page.content.decode()
        assert html.index(f"review-{first}") < html.index(f"review-{second}")
        assert 'data-group="medium"' in html


def test_the_pane_says_why_and_offers_what_the_kind_allows(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = open_pause(agent)
    path = f"/p/{project.slug}/queue/{review}/"
    pane = fragment(open_browser(alice.user), path).content.decode()
    assert pane.startswith("<main")
    assert "Rework ratio" in pane
    assert "not known" in pane  # neither coherence nor uncertainty was reported
    assert "1 of 6 outside limits" in pane
    offered = set(re.findall(r'name="action" value="([a-z]+)"', pane))
    assert offered == {"approve", "abort"}


def test_a_pane_that_shows_the_latest_is_not_sent_again(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    review = open_pause(agent)
    path = f"/p/{project.slug}/queue/{review}/"
    client = open_browser(alice.user)

    def seen() -> str:
        pane = fragment(client, path).content.decode()
        return pane.partition('"seen": "')[2].partition('"')[0]

    before = seen()
    assert fragment(client, path, seen=before).status_code == 204
    claim(review, bob)
    assert fragment(client, path, seen=before).status_code == 200
    assert fragment(client, path, seen=seen()).status_code == 204


def test_the_price_of_the_queue_does_not_grow_with_it(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    client = open_browser(alice.user)
    for _ in range(2):
        open_pause(agent)
    with django_assert_max_num_queries(26):
        client.get(f"/p/{project.slug}/queue/")
    for _ in range(6):
        open_pause(agent)
    # What is alike is folded by now: one more names the agents that ask.
    with django_assert_max_num_queries(27):
        client.get(f"/p/{project.slug}/queue/")


def test_the_price_of_a_pane(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    run = start_run(agent)
    for number in range(1, 11):
        agent.post(f"/runs/{run}/steps", json=step(number))
    review = pause_run(agent, run, first=11)["review"]["id"]
    client = open_browser(alice.user)
    with django_assert_max_num_queries(11):
        fragment(client, f"/p/{project.slug}/queue/{review}/")


def test_the_price_of_telling_a_change(
    project: Project,
    bob: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    """Once for all pages that are open, whoever looks at them."""
    view = View(project_id=project.pk, name="queue")
    since = get_live_position(project_id=project.pk)
    review = open_pause(agent)
    with django_assert_max_num_queries(12):
        build_updates([(view, since)])
    since = get_live_position(project_id=project.pk)
    claim(review, bob)
    # A claim may have been taken over, which is looked up.
    with django_assert_max_num_queries(13):
        build_updates([(view, since)])


def test_a_review_of_another_project_is_absent(
    project: Project, alice: Person, charlie: Person, agent: httpx.Client
) -> None:
    review = open_pause(agent)
    other = charlie.user.membership_set.get().project
    path = f"/p/{other.slug}/queue/{review}/"
    assert open_browser(charlie.user).get(path).status_code == 404
    assert (
        get_visible_review(user_id=alice.user.pk, code=review).opened_at
        <= timezone.now()
    )
