"""A claim is no lock, but nobody walks over one unseen: who rules on what another has
claimed is warned, and both are told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.models import Project
from console.live.updates import View, build_updates
from reviews import services
from reviews.models import Review
from reviews.rulings.perform import perform_on_review
from reviews.rulings.rule import ReviewChangeRequest
from reviews.teamwork import services as teamwork
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, pause_run, start_run
from tests.support.people import claim


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@pytest.fixture
def review(agent: httpx.Client, run: str) -> str:
    code: str = pause_run(agent, run)["review"]["id"]
    return code


@pytest.fixture
def path(project: Project, review: str) -> str:
    return f"/p/{project.slug}/queue/{review}/"


def pane(client: Client, path: str) -> str:
    return fragment(client, path).content.decode()


def get_hidden_fields(html: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]+)"', html))


def send_ruling(
    client: Client, path: str, action: str, seen: str = "", **more: Any
) -> HttpResponse:
    fields = {**get_hidden_fields(seen or pane(client, path)), **more}
    return send(client, f"{path}rule/", action=action, **fields)


def send_claim(client: Client, path: str, **more: str) -> HttpResponse:
    return send(client, f"{path}claim/", **more)


def test_the_dock_names_who_has_claimed_it(
    alice: Person, bob: Person, path: str
) -> None:
    send_claim(open_browser(alice.user), path)
    dock = pane(open_browser(bob.user), path).partition('id="dock"')[2]
    assert f"<b>{alice.user.username}</b> has claimed this" in dock
    mine = pane(open_browser(alice.user), path).partition('id="dock"')[2]
    assert "has claimed this" not in mine


@pytest.mark.parametrize("action", ["approve", "abort"])
def test_the_first_press_warns_and_the_second_rules(
    alice: Person, bob: Person, review: str, path: str, action: str
) -> None:
    client = open_browser(bob.user)
    send_claim(open_browser(alice.user), path)
    first = send_ruling(client, path, action)
    assert first.status_code == 428
    html = first.content.decode()
    assert f"{alice.user.username} has claimed this. Press again to rule anyway" in html
    assert Review.objects.get(code=review).state == "open"
    second = send_ruling(client, path, action, seen=html)
    assert second.status_code == 200
    assert f"{alice.user.username} had claimed it" in second.content.decode()
    told = pane(open_browser(alice.user), path)
    assert "You had claimed it" in told


def test_a_confirmation_is_about_one_claimer(
    alice: Person, bob: Person, review: str, path: str
) -> None:
    """Somebody else took it over meanwhile: that was not what was confirmed."""
    client = open_browser(bob.user)
    send_claim(open_browser(alice.user), path)
    refused = send_ruling(client, path, "approve", take_over=str(bob.user.code))
    assert refused.status_code == 428
    assert Review.objects.get(code=review).state == "open"


def test_a_claim_that_was_not_on_screen_is_not_taken_over(
    alice: Person, bob: Person, review: str, path: str
) -> None:
    send_claim(open_browser(alice.user), path)
    refused = send_claim(open_browser(bob.user), path, take_over="")
    assert refused.status_code == 428
    assert f"{alice.user.username} has claimed this" in refused.content.decode()
    assert Review.objects.get(code=review).assignee_id == alice.user.pk
    taken = send_claim(open_browser(bob.user), path, take_over=str(alice.user.code))
    assert taken.status_code == 200
    assert Review.objects.get(code=review).assignee_id == bob.user.pk


def test_history_says_who_took_over_from_whom(
    alice: Person, bob: Person, project: Project, path: str, run: str
) -> None:
    send_claim(open_browser(alice.user), path)
    html = send_claim(
        open_browser(bob.user), path, take_over=str(alice.user.code)
    ).content.decode()
    history = html.partition('aria-label="History"')[2].partition("</section>")[0]
    assert f"taken over from {alice.user.username}" in history
    assert bob.user.username in history
    assert str(alice.user.code) not in history
    page = open_browser(bob.user).get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert f"taken over from {alice.user.username}" in page
    assert "took this over from you" in pane(open_browser(alice.user), path)


def test_programs_are_not_held_up_and_are_told(
    alice: Person,
    bob: Person,
    manager: httpx.Client,
    reviewer: httpx.Client,
    review: str,
    agent: httpx.Client,
    run: str,
) -> None:
    manager.post(f"/reviews/{review}/claim")
    reviewer.post(f"/reviews/{review}/claim")
    history = reviewer.get(f"/reviews/{review}").json()["history"]
    assert [
        (item["type"], item["by"], item["taken_from"]) for item in history[-2:]
    ] == [
        ("review.claimed", alice.user.username, None),
        ("review.claimed", bob.user.username, alice.user.username),
    ]
    found = manager.get(f"/reviews/{review}").json()
    body = {key: found[key] for key in ("version", "content_digest")}
    ruling = manager.post(
        f"/reviews/{review}/ruling", json={"action": "approve", **body}
    )
    assert ruling.status_code == 200
    last = manager.get(f"/reviews/{review}").json()["history"][-1]
    assert (last["by"], last["taken_from"]) == (
        alice.user.username,
        bob.user.username,
    )
    assert agent.get(f"/runs/{run}/verify").json()["ok"]


@pytest.fixture
def meanwhile(alice: Person, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Alice claims the review once, after somebody else has read it."""
    late = ["not yet"]

    perform = perform_on_review

    def perform_late(command: ReviewChangeRequest) -> None:
        if late and command.person.user_id != alice.user.pk:
            late.clear()
            claim(command.review_code, alice)
        perform(command)

    for module in (services, teamwork):
        monkeypatch.setattr(module, "perform_on_review", perform_late)
    yield late
    assert not late


@pytest.mark.usefixtures("meanwhile")
def test_a_claim_that_comes_in_between_is_warned_of(
    bob: Person, alice: Person, review: str, path: str
) -> None:
    refused = send_ruling(open_browser(bob.user), path, "approve")
    assert refused.status_code == 428
    assert f"{alice.user.username} has claimed this" in refused.content.decode()
    assert Review.objects.get(code=review).state == "open"


@pytest.mark.usefixtures("meanwhile")
def test_of_two_claims_at_once_the_later_says_whom_it_took_over(
    bob: Person, alice: Person, reviewer: httpx.Client, review: str
) -> None:
    claim(review, bob)
    assert Review.objects.get(code=review).assignee_id == bob.user.pk
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    assert (last["by"], last["taken_from"]) == (
        bob.user.username,
        alice.user.username,
    )


@pytest.mark.parametrize("name", ["queue", "runs"])
def test_the_claimer_is_told_wherever_they_are(
    alice: Person, bob: Person, project: Project, path: str, name: str
) -> None:
    send_claim(open_browser(alice.user), path)
    view = View(project_id=project.pk, name=name)
    since = next(iter(build_updates([(view, 0)]).values())).position
    send_claim(open_browser(bob.user), path, take_over=str(alice.user.code))
    said = build_updates([(view, since)])[view, since].text
    found = re.search(r'data-take-overs="([^"]*)"', said)
    assert found
    (notice,) = json.loads(found[1].replace("&quot;", '"'))
    assert notice["from"] == str(alice.user.code)
    assert f"{bob.user.username} took this over from you" in notice["text"]
    assert notice["url"] == path
