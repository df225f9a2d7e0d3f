"""Two people rule on overlapping selections at once: each review is ruled once."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import httpx

from accounts.models import Project
from ledger.models import Entry
from reviews.models import Grant, Review
from tests.reviews.floods import ask_to_run
from tests.reviews.rulings.test_bulk import read_items, rule_all
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.examples import ALL
from tests.support.threads import at_once

RACES = 40 if ALL else 2


def test_each_review_of_overlapping_selections_is_ruled_once(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    for number in range(RACES):
        codes = [ask_to_run(agent, f"rm -rf build/{number}{name}") for name in "abcde"]
        first = read_items(reviewer, codes[:4])
        second = read_items(manager, codes[:0:-1])

        answers = at_once(
            partial(rule_all, reviewer, first, "approve", "Bob's."),
            partial(rule_all, manager, second, "deny", "Alice's."),
        )

        statuses = Counter(
            (each["id"], each["status"])
            for answer in answers
            for each in answer.json()["results"]
        )
        for code in codes:
            assert statuses[code, "ruled"] == 1
            review = Review.objects.select_related("ruling").get(code=code)
            entry = Entry.objects.get(run=review.run, type="review.ruled")
            payload = json.loads(entry.payload)
            assert payload["content_digest"] == review.content_digest
            assert payload["action"] == review.ruling.action
            granted = Grant.objects.filter(call__review=review).count()
            assert granted == (1 if review.ruling.action == "approve" else 0)
        assert sum(statuses.values()) == 8


def test_two_who_approve_the_same_selection_at_once_are_two_approvals_of_each(
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    """Who read it before the other's approval reads it again, and then counts."""
    asks = {"approvals": 2, "rules": ["uncertainty"]}
    make_policy("careful", project=project, four_eyes=asks)
    for _ in range(RACES):
        codes = [
            pause_at_once(agent, start_run(agent, policy="careful")) for _ in "abc"
        ]
        items = [read_items(each, codes) for each in (reviewer, manager)]

        answers = at_once(
            partial(rule_all, reviewer, items[0], "approve"),
            partial(rule_all, manager, items[1], "approve"),
        )

        for place, code in enumerate(codes):
            said = sorted(
                answer.json()["results"][place]["status"] for answer in answers
            )
            assert said == ["changed", "needs-approval"]
            assert Review.objects.get(code=code).approvals_given == 1
        for client in (reviewer, manager):
            rule_all(client, read_items(client, codes), "approve")
        for code in codes:
            review = Review.objects.get(code=code)
            assert review.state == "ruled"
            kept = Entry.objects.filter(run=review.run, type="review.approved")
            ruled = Entry.objects.get(run=review.run, type="review.ruled")
            assert kept.count() == 1
            assert len({*json.loads(ruled.payload)["approved_by"]}) == 2
