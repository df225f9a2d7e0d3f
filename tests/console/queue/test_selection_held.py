"""One decision on several reviews is held as each of them would be, and taken back whole."""

from __future__ import annotations

import json
import re
from html import unescape

import httpx
import pytest
from django.http import HttpResponse

from accounts.models import Project
from console.models import Preferences
from ledger.models import Entry
from reviews.models import Grant, HeldRuling, Review
from tests.reviews.floods import ask_to_run
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.people import rule


class Selecting:
    """A person whose page holds what they decide on several reviews."""

    def __init__(self, person: Person, project: Project) -> None:
        Preferences.objects.update_or_create(
            user=person.user, defaults={"takes_back": True}
        )
        self.client = open_browser(person.user)
        self.path = f"/p/{project.slug}/queue/selection/"

    def approve(self, codes: list[str]) -> str:
        page = send(self.client, self.path, action="approve", pick=codes)
        items = re.findall(r'name="item" value="([^"]+)"', page.content.decode())
        fields = {"item": items, "action": "approve", "reason": ""}
        done = send(self.client, f"{self.path}rule/", **fields)
        return unescape(done.content.decode())

    def send(self, codes: list[str]) -> HttpResponse:
        return send(self.client, f"{self.path}send/", code=codes)

    def take_back(self, codes: list[str]) -> str:
        answer = send(self.client, f"{self.path}take-back/", code=codes)
        return answer.content.decode()


@pytest.fixture
def bobs(bob: Person, project: Project) -> Selecting:
    return Selecting(bob, project)


@pytest.fixture
def calls(agent: httpx.Client) -> list[str]:
    return [ask_to_run(agent, f"rm -rf build/{name}") for name in "abc"]


def list_states(codes: list[str]) -> list[str]:
    return [Review.objects.get(code=code).state for code in codes]


def count_types(code: str) -> list[str]:
    """What the ledger says of rulings on one review, in order."""
    run = Review.objects.get(code=code).run
    types = ("review.held", "review.taken_back", "review.ruled")
    found = Entry.objects.filter(run=run, type__in=types).order_by("seq")
    return [entry.type for entry in found if code in entry.payload]


def test_all_are_taken_back_and_nothing_was_granted(
    bobs: Selecting, calls: list[str]
) -> None:
    done = bobs.approve(calls)
    assert "3 approved" in done
    assert "Sent in 8 s" in done
    assert f'data-held-all="{" ".join(calls)}"' in done
    assert list_states(calls) == ["open"] * 3
    assert HeldRuling.objects.filter(review__code__in=calls).count() == 3
    assert bobs.take_back(calls) == "Taken back. 3 reviews are open."
    assert not HeldRuling.objects.filter(review__code__in=calls).exists()
    assert not Grant.objects.filter(call__review__code__in=calls).exists()
    for code in calls:
        assert count_types(code) == ["review.held", "review.taken_back"]
    assert bobs.send(calls).status_code == 204  # a late page sends nothing
    assert list_states(calls) == ["open"] * 3


def test_all_are_sent_and_each_has_its_entry_and_its_digest(
    bobs: Selecting, calls: list[str]
) -> None:
    bobs.approve(calls)
    assert bobs.send(calls).status_code == 204
    assert list_states(calls) == ["ruled"] * 3
    for code in calls:
        review = Review.objects.get(code=code)
        ruled = Entry.objects.get(run=review.run, type="review.ruled")
        payload = json.loads(ruled.payload)
        assert payload["content_digest"] == review.content_digest
        assert payload.get("folded", False) == (code != calls[0])
    assert "sent already" in bobs.take_back(calls)


def test_what_somebody_else_ruled_meanwhile_keeps_none_of_the_others(
    bobs: Selecting, manager: httpx.Client, calls: list[str]
) -> None:
    bobs.approve(calls)
    rule(manager, calls[1], "deny", note="Mine.")
    answer = bobs.send(calls)
    assert answer.status_code == 409
    assert "1 ruling of 3" in answer.content.decode()
    actions = Review.objects.filter(code__in=calls).values_list(
        "code", "ruling__action"
    )
    assert {str(code): action for code, action in actions} == {
        calls[0]: "approve",
        calls[1]: "deny",
        calls[2]: "approve",
    }


def test_without_a_script_nothing_is_held(bobs: Selecting, calls: list[str]) -> None:
    page = send(bobs.client, bobs.path, action="approve", pick=calls)
    items = re.findall(r'name="item" value="([^"]+)"', page.content.decode())
    fields = {"item": items, "action": "approve", "reason": ""}
    bobs.client.post(f"{bobs.path}rule/", fields)
    assert list_states(calls) == ["ruled"] * 3


def test_others_cannot_send_or_take_back_what_they_do_not_hold(
    bobs: Selecting, project: Project, alice: Person, calls: list[str]
) -> None:
    bobs.approve(calls)
    other = Selecting(alice, project)
    assert other.send(calls).status_code == 204
    assert "Nothing was taken back" in other.take_back(calls)
    assert HeldRuling.objects.filter(review__code__in=calls).count() == 3
    assert list_states(calls) == ["open"] * 3


def test_what_takes_several_people_is_held_by_each_of_them(
    agent: httpx.Client, project: Project, bobs: Selecting, alice: Person
) -> None:
    asks = {"approvals": 2, "rules": ["uncertainty"]}
    make_policy("careful", project=project, four_eyes=asks)
    codes = [pause_at_once(agent, start_run(agent, policy="careful")) for _ in "ab"]
    alices = Selecting(alice, project)
    assert "2 approved" in bobs.approve(codes)
    assert {Review.objects.get(code=code).approvals_given for code in codes} == {0}
    bobs.send(codes)
    assert {Review.objects.get(code=code).approvals_given for code in codes} == {1}
    assert "not taken" in bobs.approve(codes)
    assert "2 approved" in alices.approve(codes)
    assert "2 reviews are open" in alices.take_back(codes)
    assert list_states(codes) == ["open"] * 2
    alices.approve(codes)
    assert alices.send(codes).status_code == 204
    assert list_states(codes) == ["ruled"] * 2
