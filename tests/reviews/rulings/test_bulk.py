"""One decision on several reviews: each by its own version and digest, none of them critical."""

from __future__ import annotations

import json
from typing import Any

import httpx

from accounts.models import Project
from ledger.models import Entry
from reviews.models import Review
from tests.reviews.floods import ask_to_run
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.people import get_seen, rule


def read_items(client: httpx.Client, codes: list[str]) -> list[dict[str, Any]]:
    return [{"id": code, **get_seen(client, code)} for code in codes]


def rule_all(
    client: httpx.Client, items: list[dict[str, Any]], action: str, note: str = ""
) -> httpx.Response:
    body = {"items": items, "action": action, "note": note}
    return client.post("/reviews/bulk-ruling", json=body)


def test_each_is_ruled_with_an_entry_of_its_own(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    codes = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abc"]
    answer = rule_all(reviewer, read_items(reviewer, codes), "approve", "Old builds.")
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert [(each["id"], each["status"]) for each in results] == [
        (code, "ruled") for code in codes
    ]
    assert {each["ruling"]["note"] for each in results} == {"Old builds."}
    assert len({each["ruling"]["grant"] for each in results}) == 3
    for code in codes:
        review = Review.objects.select_related("ruling").get(code=code)
        assert review.state == "ruled"
        entries = Entry.objects.filter(run=review.run, type="review.ruled")
        assert [entry.payload.count(review.content_digest) for entry in entries] == [1]


def list_folded(codes: list[str]) -> list[bool]:
    """Whether the entry of each ruling says that one like it was ruled first."""
    runs = [Review.objects.get(code=code).run for code in codes]
    texts = [Entry.objects.get(run=run, type="review.ruled").payload for run in runs]
    return [json.loads(text).get("folded", False) for text in texts]


def test_what_is_ruled_with_one_like_it_says_so(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    alike = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abc"]
    other, alone = ask_to_run(agent, "git push --force"), ask_to_run(agent, "rm -rf x")
    rule(reviewer, alone, "approve")
    items = read_items(reviewer, [alike[0], other, *alike[1:]])
    # What was not ruled stands for no other.
    items[0]["content_digest"] = "sha256:" + "0" * 64
    results = rule_all(reviewer, items, "approve").json()["results"]
    assert [each["status"] for each in results] == ["changed", *["ruled"] * 3]
    assert list_folded([other, alike[1], alike[2], alone]) == [
        *(False, False, True, False),
    ]


def test_each_stands_or_falls_alone(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    codes = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcd"]
    Review.objects.filter(code=codes[3]).update(severity="critical", urgency=0)
    items = read_items(reviewer, codes)
    rule(manager, codes[0], "deny", note="Mine.")
    items[1]["content_digest"] = "sha256:" + "0" * 64
    missing = {**items[2], "id": "0199f2d6-0f11-7b88-9c20-7a8b9c0d1e2f"}
    results = rule_all(reviewer, [*items, missing], "approve").json()["results"]
    assert [each["status"] for each in results] == [
        *("already-ruled", "changed", "ruled", "refused", "not-found"),
    ]
    assert results[0]["ruling"]["note"] == "Mine."
    assert results[1]["problem"]["type"] == "stale-version"
    assert results[3]["problem"]["type"] == "critical-alone"
    assert "rm -rf build/d" in results[3]["problem"]["detail"]
    states = [Review.objects.get(code=code).state for code in codes]
    assert states == ["ruled", "open", "ruled", "open"]


def test_several_people_approve_in_bulk_as_one_by_one(
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    asks = {"approvals": 2, "rules": ["uncertainty"]}
    make_policy("careful", project=project, four_eyes=asks)
    codes = [pause_at_once(agent, start_run(agent, policy="careful")) for _ in range(2)]

    def approve(client: httpx.Client) -> list[tuple[str, str]]:
        results = rule_all(client, read_items(client, codes), "approve").json()
        return [
            (each["status"], each.get("problem", {}).get("type", ""))
            for each in results["results"]
        ]

    assert approve(reviewer) == [("needs-approval", "")] * 2
    assert approve(reviewer) == [("refused", "four-eyes")] * 2
    assert {Review.objects.get(code=code).state for code in codes} == {"open"}
    assert approve(manager) == [("ruled", "")] * 2


def test_kinds_and_repetitions_are_refused_as_a_whole(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    call, pause = (
        ask_to_run(agent, "rm -rf a"),
        pause_at_once(agent, start_run(agent)),
    )
    items = read_items(reviewer, [call, pause])
    assert "one kind" in rule_all(reviewer, items, "approve").json()["detail"]
    assert rule_all(reviewer, [items[0]] * 2, "approve").status_code == 422
    assert rule_all(reviewer, [items[1]], "deny").status_code == 422
    assert rule_all(reviewer, [items[0]], "amend").status_code == 422
    assert rule_all(reviewer, [], "approve").status_code == 422
    too_many = [{**items[0], "id": f"{n}"} for n in range(101)]
    assert rule_all(reviewer, too_many, "approve").status_code == 422
    assert {Review.objects.get(code=code).state for code in (call, pause)} == {"open"}
