"""What the ledger keeps of a ruling: who decided what, on what they saw, and what followed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx

from accounts.models import Project
from ledger.models import Entry, Run
from reviews.models import Grant, Permission, Review, Ruling
from reviews.selectors import list_amended_findings
from tests.gateway.calls.calls import command, rule
from tests.gateway.checks.saying import exhaust
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.people import rule as rule_on

GATES = {
    "tests-pass": {"name": "Tests", "severity": "critical", "criteria": ["They pass"]}
}


def read_ruling(review: str) -> tuple[Entry, dict[str, Any]]:
    (entry,) = Entry.objects.filter(type="review.ruled", payload__contains=review)
    return entry, json.loads(entry.payload)


def build_common(review: str, **more: Any) -> dict[str, Any]:
    row = Review.objects.get(code=review)
    assert row.closed_at is not None
    return {
        "review": review,
        "kind": row.kind,
        "note": "",
        "answer": None,
        "version": 1,
        "content_digest": row.content_digest,
        "waited_ms": (row.closed_at - row.opened_at) // timedelta(milliseconds=1),
        "read_ms": None,  # no screen showed it
        **more,
    }


def test_a_plain_ruling_is_kept_with_what_was_seen(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
    alice: Person,
) -> None:
    run = start_run(agent)
    pause = pause_at_once(agent, run)
    rule_on(reviewer, pause, "approve", note="Fine")
    entry, payload = read_ruling(pause)
    assert payload == build_common(pause, action="approve", note="Fine")
    assert entry.actor == f"user:{bob.user.code}"

    asked = {"kind": "question", "title": "Which?"}
    question = agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    manager.post(f"/reviews/{question}/claim")
    rule_on(reviewer, question, "answer", answer="This")
    _, payload = read_ruling(question)
    taken = {"taken_from": f"user:{alice.user.code}"}
    assert payload == build_common(question, action="answer", answer="This", **taken)

    own = agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    reviewer.post(f"/reviews/{own}/claim")
    rule_on(reviewer, own, "answer", answer="That")
    assert "taken_from" not in read_ruling(own)[1]


def test_an_approved_call_is_kept_with_its_grant_and_permission(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    plain, kept = (command(agent, run, f"rm -rf {name}") for name in ("a", "b"))
    rule(reviewer, plain, "approve")
    rule(reviewer, kept, "approve", remember={"scope": "exact", "hours": 2, "uses": 3})

    for call in (plain, kept):
        grant = Grant.objects.get(call__code=call["id"])
        entry, payload = read_ruling(call["review"]["id"])
        assert payload["grant"]["id"] == str(grant.code)
        assert payload["grant"]["digest"] == call["digest"] == grant.digest
        assert (payload["amended"], payload["amended_findings"]) == (None, [])
        assert grant.issued_at == entry.at < grant.expires_at
    assert read_ruling(plain["review"]["id"])[1]["permission"] is None
    row = Permission.objects.get(review__code=kept["review"]["id"])
    told = payload["permission"]
    assert (told["id"], told["scope"], told["uses"]) == (str(row.code), "exact", 3)
    assert (told["covers"], told["rules"]) == (row.covers, json.loads(row.rules))
    assert (row.granted_by, row.granted_at) == (bob.user, entry.at)
    assert (row.expires_at - row.granted_at).total_seconds() == 2 * 3600
    assert (row.uses_left, row.used, row.tool) == (3, 0, "Bash")
    assert (row.run, row.project) == (entry.run, entry.project)


def test_an_amended_call_is_kept_with_what_the_gates_said_of_it(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    calls = [command(agent, run, f"rm -rf {name}") for name in ("a", "b")]
    rule(reviewer, calls[0], "amend", amended={"command": "rm -rf c"})
    rule(reviewer, calls[1], "approve")

    review = Review.objects.get(code=calls[0]["review"]["id"])
    _, payload = read_ruling(str(review.code))
    amended = payload["amended"]
    assert amended["command"] == "rm -rf c"
    assert amended["digest"] == payload["grant"]["digest"] != calls[0]["digest"]
    assert payload["amended_findings"]
    assert list_amended_findings(review) == payload["amended_findings"]
    assert json.loads(Ruling.objects.get(review=review).amended or "") == amended
    other = Review.objects.get(code=calls[1]["review"]["id"])
    assert list_amended_findings(other) == []


def test_a_skipped_check_is_kept_and_passes_nothing(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("p", project=project, gates=GATES)
    run = start_run(agent, policy="p")
    check, told = exhaust(agent, run, "tests-pass")
    code = told["review"]["id"]
    body = {"action": "skip", "note": " "}
    review = reviewer.get(f"/reviews/{code}").json()
    body |= {name: review[name] for name in ("version", "content_digest")}
    refused = reviewer.post(f"/reviews/{code}/ruling", json=body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["loc"] == ["note"]
    rule_on(reviewer, code, "skip", note="A known flake")

    _, payload = read_ruling(code)
    assert payload["check"] == check["id"]
    assert payload["check_state"]["status"] == "skipped"
    assert payload["gates_passed"] is False
    shown = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert shown["status"] == "skipped"
    assert Run.objects.get(code=run).status == "running"
