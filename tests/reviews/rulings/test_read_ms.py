"""How long a person had a review open before ruling: a rubber stamp is seen in a backlog."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.models import Preferences
from ledger.models import Entry, Run
from ledger.verification.verify import verify_run
from reviews.models import HeldRuling, Reading, Review, RulingFact
from reviews.rulings.reading_proof import store_shown
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import claim, command, settle
from tests.support import people
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, start_run

HOUR = timedelta(hours=1)


@pytest.fixture
def call(agent: httpx.Client) -> dict[str, Any]:
    """It has waited for an hour."""
    asked = command(agent, start_run(agent), "rm -rf src")
    return _age(asked)


def _age(asked: dict[str, Any]) -> dict[str, Any]:
    rows = Review.objects.filter(code=asked["review"]["id"])
    rows.update(opened_at=rows.get().opened_at - HOUR)
    return asked


def show(
    person: Person, project: Project, call: dict[str, Any], ago: timedelta
) -> None:
    """As the page tells over its socket."""
    code = UUID(call["review"]["id"])
    store_shown(project_id=project.pk, code=code, user_id=person.user.pk)
    readings = Reading.objects.filter(review__code=code, person=person.user)
    readings.update(shown_at=timezone.now() - ago)


def get_fact(call: dict[str, Any]) -> RulingFact:
    return RulingFact.objects.get(ruling__review__code=call["review"]["id"])


def test_a_look_of_two_seconds_at_what_waited_for_an_hour(
    project: Project, bob: Person, alice: Person, reviewer: httpx.Client, call: Any
) -> None:
    show(alice, project, call, timedelta(minutes=30))  # somebody else's look
    show(bob, project, call, timedelta(seconds=2))
    first = Reading.objects.get(person=bob.user).shown_at
    code = UUID(call["review"]["id"])
    store_shown(project_id=project.pk, code=code, user_id=bob.user.pk)  # again
    assert Reading.objects.get(person=bob.user).shown_at == first

    open_desk(bob, project, call).rule("approve")

    fact = get_fact(call)
    assert fact.took_ms >= 3_600_000
    assert fact.read_ms is not None
    assert 2_000 <= fact.read_ms < 60_000
    entry = Entry.objects.get(run=fact.run, type="review.ruled")
    payload = json.loads(entry.payload)
    assert (payload["waited_ms"], payload["read_ms"]) == (fact.took_ms, fact.read_ms)
    item = reviewer.get("/rulings").json()["items"][0]
    assert (item["waited_ms"], item["read_ms"]) == (fact.took_ms, fact.read_ms)
    assert "took_ms" not in item
    csv = reviewer.get("/rulings.csv").text.splitlines()
    row = dict(zip(csv[0].split(","), csv[1].split(","), strict=True))
    assert row["read_ms"] == str(fact.read_ms)


def test_what_was_held_counts_until_the_key_not_until_it_was_sent(
    project: Project, bob: Person, call: Any
) -> None:
    Preferences.objects.filter(user=bob.user).update(takes_back=True)
    show(bob, project, call, timedelta(seconds=2))
    desk = open_desk(bob, project, call)
    desk.rule("approve")
    held = HeldRuling.objects.get(by=bob.user)
    assert not RulingFact.objects.filter(project=project).exists()
    earlier = held.held_at - timedelta(seconds=1)
    HeldRuling.objects.filter(pk=held.pk).update(held_at=earlier)
    shown = Reading.objects.get(person=bob.user).shown_at
    assert shown is not None
    assert send(desk.client, f"{desk.path}send/").status_code == 204
    assert get_fact(call).read_ms == _measure(shown, earlier)


def _measure(since: datetime, until: datetime) -> int:
    return max(0, (until - since) // timedelta(milliseconds=1))


def test_a_page_without_a_script_counts_and_a_fragment_alone_does_not(
    project: Project, bob: Person, alice: Person, call: Any
) -> None:
    fetched: Desk = open_desk(alice, project, call)
    fetched.look()  # as what is fetched beforehand
    readings = Reading.objects.filter(review__project=project)
    assert not readings.exists()
    browser = open_browser(bob.user)
    path = f"/p/{project.slug}/queue/{call['review']['id']}/"
    assert browser.get(path).status_code == 200
    assert readings.get().person == bob.user


def test_programs_and_what_was_ruled_among_others(
    project: Project,
    agent: httpx.Client,
    bob: Person,
    reviewer: httpx.Client,
    call: Any,
) -> None:
    """Null by API, even where its person has looked; 0 for what was never open by itself."""
    show(bob, project, call, timedelta(seconds=9))
    people.rule(reviewer, call["review"]["id"], "deny")
    assert get_fact(call).read_ms is None
    one, two = (
        _age(command(agent, start_run(agent), f"rm -rf {name}")) for name in "ab"
    )
    show(bob, project, one, timedelta(seconds=9))
    items = [
        f"{review.code} {review.version} {review.content_digest} "
        for review in Review.objects.filter(project=project, state="open")
    ]
    browser, path = open_browser(bob.user), f"/p/{project.slug}/queue/selection/"
    codes = [one["review"]["id"], two["review"]["id"]]
    page = send(browser, path, action="approve", pick=codes).content.decode()
    items = [part.split('"')[0] for part in page.split('name="item" value="')[1:]]
    said = {"item": items, "action": "approve", "reason": ""}
    send(browser, f"{path}rule/", **said)
    assert (get_fact(one).read_ms or 0) >= 9_000
    assert get_fact(two).read_ms == 0
    fast = reviewer.get("/rulings", params={"faster_than_ms": 3_000}).json()["items"]
    assert [item["review"] for item in fast] == [codes[1]]


def test_a_read_of_nothing_that_is_open_is_kept(
    project: Project, bob: Person, charlie: Person, call: Any
) -> None:
    code = UUID(call["review"]["id"])
    other = charlie.user.membership_set.get().project_id
    store_shown(project_id=other, code=code, user_id=charlie.user.pk)
    store_shown(project_id=project.pk, code=UUID(int=7), user_id=bob.user.pk)
    Review.objects.filter(code=code).update(state="withdrawn", closed_at=timezone.now())
    store_shown(project_id=project.pk, code=code, user_id=bob.user.pk)
    assert not Reading.objects.filter(review__project=project).exists()


def test_a_call_that_fails_is_regretted_and_found_by_its_outcome(
    project: Project, agent: httpx.Client, manager: httpx.Client, alice: Person
) -> None:
    """The run is completed and accepted: the call alone tells."""
    runs = [start_run(agent) for _ in range(4)]
    failed, ran, denied, waiting = (
        command(agent, run, f"rm -rf {number}") for number, run in enumerate(runs)
    )
    for asked, action in (
        (failed, "approve"),
        (ran, "approve"),
        (denied, "deny"),
        (waiting, "approve"),
    ):
        people.rule(manager, asked["review"]["id"], action)
    for run, asked, ok in ((runs[0], failed, False), (runs[1], ran, True)):
        claim(agent, run, asked)
        settle(agent, run, asked, ok=ok)
    for run in runs[:3]:
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    def find(**query: Any) -> list[str]:
        page = manager.get("/rulings", params=query).json()
        assert page["total"] == len(page["items"])
        return [item["review"] for item in page["items"]]

    reviews = [each["review"]["id"] for each in (failed, ran, denied, waiting)]
    assert find(outcome="call-failed") == [reviews[0]]
    assert find(regretted="true") == [reviews[0]]
    assert find(regretted="true", outcome="run-failed") == []
    assert find(outcome="good", action="approve") == [reviews[1]]
    assert find(outcome="running") == [reviews[3]]
    assert find(outcome=["running", "call-failed"]) == [reviews[3], reviews[0]]
    figures = manager.get("/stats/reviewers").json()["total"]
    assert figures["regretted"] == 1
    assert figures["regretted_by"] == {
        "call-failed": 1,
        "run-failed": 0,
        "not-accepted": 0,
        "aborted": 0,
    }
    for run_row in Run.objects.filter(code__in=runs):
        assert verify_run(run_row).ok
    page = open_browser(alice.user).get(f"/p/{project.slug}/rulings/").content.decode()
    assert "1 call failed</a>" in page
    assert "outcome=call-failed" in page
