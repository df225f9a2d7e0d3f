"""Rulings: an agent waits for each of them, so they are answered beside Django, alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.config.fastpath.stages import JSON, ODD_HEADERS, Stage, alike, odd_request
from tests.gateway.calls.calls import command
from tests.support.builders import pause_at_once, start_run
from tests.support.people import get_seen

pytestmark = pytest.mark.once("compares two fronts of one writer")

ABSENT = "01900000-0000-7000-8000-000000000000"


def open_review(stage: Stage) -> str:
    return pause_at_once(stage.agent, start_run(stage.agent))


def test_rulings_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        person, hear = stage.person, stage.hear
        for action in ("approve", "abort"):
            review = open_review(stage)
            body = {"action": action, "note": "é\u2028", **get_seen(person, review)}
            hear(action, person.post(f"/reviews/{review}/ruling", json=body))
            hear(f"{action} again", person.post(f"/reviews/{review}/ruling", json=body))
        call = command(stage.agent, stage.run)["review"]["id"]
        person.post(f"/reviews/{call}/claim")
        amended = {"command": "rm -ri build"}
        body = {"action": "amend", "amended": amended, **get_seen(person, call)}
        hear("amend", person.post(f"/reviews/{call}/ruling", json=body))

    alike(stages)


def wrong_bodies(read: dict[str, Any]) -> dict[str, bytes]:
    documents: dict[str, Any] = {
        "null": None,
        "array": [],
        "empty object": {},
        "unknown action": {**read, "action": "maybe"},
        "action of another kind": {**read, "action": "answer", "answer": "x"},
        "nothing read": {"action": "approve"},
        "something else read": {**read, "action": "approve", "version": 7},
        "unknown field": {**read, "action": "approve", "admin": True},
        "a long note": {**read, "action": "approve", "note": "x" * 30_000},
    }
    raw = {"nothing": b"", "no JSON": b"{", "key twice": b'{"action":1,"action":1}'}
    return {name: json.dumps(body).encode() for name, body in documents.items()} | raw


def test_wrong_rulings_are_refused_in_the_same_words(
    stages: tuple[Stage, Stage],
) -> None:
    for stage in stages:
        review = open_review(stage)
        path = f"/reviews/{review}/ruling"
        for what, raw in wrong_bodies(get_seen(stage.person, review)).items():
            for who in ("agent", "person"):
                client = getattr(stage, who)
                answer = client.post(path, content=raw, headers=JSON)
                stage.hear(f"{who}: {what}", answer)
        body = {"action": "approve", **get_seen(stage.person, review)}
        for code in (ABSENT, "x", "%00", review.upper()):
            shown = code if code != review.upper() else "upper case"
            answer = stage.person.post(f"/reviews/{code}/ruling", json=body)
            stage.hear(f"review {shown}", answer)
        for verb in ("GET", "PUT", "DELETE", "HEAD", "OPTIONS"):
            stage.hear(verb, stage.person.request(verb, path))
        for what, odd in ODD_HEADERS.items():
            answer = odd_request(stage, path.removeprefix("/"), body, odd)
            stage.hear(f"head: {what}", answer)

    alike(stages)


def test_a_ruling_from_inside_a_session_is_refused_alike(
    stages: tuple[Stage, Stage],
) -> None:
    for stage in stages:
        review = open_review(stage)
        body = {"action": "approve", **get_seen(stage.person, review)}
        for mark in ("claude-code:0192", "x", ""):
            answer = stage.person.post(
                f"/reviews/{review}/ruling",
                json=body,
                headers={"Checkrail-Agent-Session": mark},
            )
            assert answer.status_code == 403
            stage.hear(f"mark {mark!r}", answer)

    alike(stages)
