"""A review is set aside until a time or an event, and comes back by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Review
from reviews.queue.order import Queue
from reviews.queue.tally import count_reviews
from reviews.teamwork.sweep import return_snoozed
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import claim
from tests.support.problems import problem
from tests.support.threads import at_once


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@pytest.fixture
def review(agent: httpx.Client, run: str) -> str:
    return pause_at_once(agent, run)


def get_row(review: str) -> Review:
    return Review.objects.select_related("run").get(code=review)


def snooze(client: httpx.Client, review: str, until: Any) -> httpx.Response:
    return client.post(f"/reviews/{review}/snooze", json={"until": until})


def after(**time: float) -> str:
    return (timezone.now() + timedelta(**time)).isoformat()


def test_it_leaves_the_list_and_comes_back_in_time(
    reviewer: httpx.Client, alice: Person, project: Project, review: str
) -> None:
    answer = snooze(reviewer, review, after(hours=1)).json()
    assert answer["snoozed_for"] == "time"
    queue = Queue(project_id=project.pk, viewer_id=alice.user.pk)
    assert not queue.list_reviews().exists()
    tally = count_reviews(project_id=project.pk)
    assert tally.total == 0
    assert tally.count_shown(show="snoozed", viewer="") == 1
    assert reviewer.get("/reviews", params={"snoozed": True}).json()["total"] == 1
    assert reviewer.get("/reviews", params={"state": "open"}).json()["total"] == 1
    assert return_snoozed() == 0
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(snoozed_until=past)
    assert return_snoozed() == 1
    assert return_snoozed() == 0
    assert [str(each.code) for each in queue.list_reviews()] == [review]
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    assert (last["type"], last["actor"]) == ("review.returned", "system:clock")


def test_screens_are_told_that_it_is_gone(
    reviewer: httpx.Client, project: Project, review: str
) -> None:
    snooze(reviewer, review, "comment")
    view = View(project_id=project.pk, name="queue")
    ((_, update),) = build_updates([(view, 0)]).items()
    assert f'<li id="review-{review}"' in update.text
    assert "data-gone" in update.text


@pytest.mark.parametrize("until", [{"hours": -1}, {"days": 2}])
def test_never_past_its_deadline_nor_until_a_time_that_is_over(
    reviewer: httpx.Client, review: str, until: dict[str, float]
) -> None:
    refused = snooze(reviewer, review, after(**until))
    assert problem(refused, "invalid")["errors"][0]["loc"] == ["until"]
    assert get_row(review).snoozed_until is None


def test_a_late_one_may_wait_until_it_ends(reviewer: httpx.Client, review: str) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(answer_by=past)
    assert snooze(reviewer, review, "comment").status_code == 200
    row = get_row(review)
    assert row.snoozed_until == row.due_at


@pytest.mark.parametrize("how", ["comment", "claim", "assign", "person"])
def test_people_bring_it_back(
    reviewer: httpx.Client, alice: Person, review: str, how: str
) -> None:
    snooze(reviewer, review, "comment")
    match how:
        case "comment":
            reviewer.post(f"/reviews/{review}/comments", json={"text": "Done."})
        case "claim":
            claim(review, alice)
        case "assign":
            body = {"to": alice.user.username}
            reviewer.post(f"/reviews/{review}/assign", json=body)
        case _:
            snooze(reviewer, review, None)
    row = get_row(review)
    assert (row.snoozed_until, row.snoozed_for) == (None, "")
    assert verify_run_and_rows(row.run).ok


def test_what_happens_in_its_run_brings_it_back(
    reviewer: httpx.Client, run: str, review: str
) -> None:
    snooze(reviewer, review, "run")
    assert return_snoozed() == 0
    assert verify_run_and_rows(get_row(review).run).ok
    reviewer.post(f"/reviews/{review}/comments", json={"text": "Look at step 3."})
    assert return_snoozed() == 1
    assert get_row(review).snoozed_until is None


def test_two_at_once_leave_one_outcome(
    reviewer: httpx.Client, manager: httpx.Client, review: str
) -> None:
    answers = at_once(
        lambda: snooze(reviewer, review, "comment"),
        lambda: snooze(manager, review, after(minutes=5)),
    )
    assert {answer.status_code for answer in answers} == {200}
    row = get_row(review)
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    by = {"comment": "bob", "time": "alice"}[row.snoozed_for]
    assert last["by"].startswith(by)
    assert verify_run_and_rows(row.run).ok


def test_the_page_sets_aside_and_brings_back(
    bob: Person, project: Project, review: str
) -> None:
    client = open_browser(bob.user)
    path = f"/p/{project.slug}/queue/{review}/"
    sent = send(client, f"{path}snooze/", until="60")
    assert sent.status_code == 200
    assert 'id="aside"' in sent.content.decode()
    listed = client.get(f"/p/{project.slug}/queue/?show=snoozed").content.decode()
    assert f'id="review-{review}"' in listed
    assert "Bring back" in fragment(client, path).content.decode()
    assert send(client, f"{path}snooze/").status_code == 200
    assert get_row(review).snoozed_until is None
