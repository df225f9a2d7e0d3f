"""The hottest doors are answered beside Django: both ways must answer alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.models import Role
from ledger.models import Run
from tests.config.fastpath.stages import JSON, ODD_HEADERS, Stage, alike, odd_request
from tests.gateway.shadow.watching import list_seen, watch
from tests.support.builders import make_person, pause_run, step
from tests.support.people import rule

pytestmark = pytest.mark.once("compares two fronts of one writer")


def test_the_main_path_is_the_same(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        agent, run, hear = stage.agent, stage.run, stage.hear
        steps = f"/runs/{run}/steps"
        full = step(
            1, coherence=0.83, confidences=[0.9], summary="é\u2028", cost_usd="0.1"
        )
        hear("first step", agent.post(steps, json=full))
        hear("replay", agent.post(steps, json=full))
        hear("conflict", agent.post(steps, json=step(1)))
        hear("out of order", agent.post(steps, json=step(3)))
        key = {"Idempotency-Key": "k"}
        hear("with a key", agent.post(steps, json=step(2), headers=key))
        hear("key again", agent.post(steps, json=step(2), headers=key))
        hear("key reused", agent.post(steps, json=step(3), headers=key))
        hear("nothing waits", agent.get(f"/runs/{run}/decision"))
        bodies = [step(n, rework=True) for n in range(3, 20)]
        hear("batch", agent.post(f"{steps}/batch", json={"steps": bodies}))
        hear("batch again", agent.post(f"{steps}/batch", json={"steps": bodies}))
        hear("paused", agent.post(steps, json=step(7)))
        hear("open", agent.get(f"/runs/{run}/decision"))
        hear("open after a wait", agent.get(f"/runs/{run}/decision?wait=1"))
        hear("open for a person", stage.person.get(f"/runs/{run}/decision"))
        review = agent.get(f"/runs/{run}").json()["open_reviews"][0]["id"]
        rule(stage.person, review, "approve", note="ok")
        hear("ruled", agent.get(f"/runs/{run}/decision?wait=20"))
        hear("ruled, by id", agent.get(f"/runs/{run}/decision?review={review}"))
        stage.person.post(f"/runs/{run}/notes", json={"text": "Only the tests"})
        hear("ruled, with a note", agent.get(f"/runs/{run}/decision?wait=20"))
        hear("the same note again", agent.get(f"/runs/{run}/decision?wait=20"))
        stage.person.post(f"/runs/{run}/notes", json={"text": "And the docs"})
        hear("step with a note", agent.post(steps, json=step(7)))
        hear("the same step", agent.post(steps, json=step(7)))
        stage.person.post(f"/runs/{run}/abort", json={})
        hear("closed", agent.post(steps, json=step(8)))
        hear("batch on closed", agent.post(f"{steps}/batch", json={"steps": [step(8)]}))

    alike(stages)


def wrong_bodies() -> dict[str, bytes]:
    good = json.dumps(step(1))
    documents: dict[str, Any] = {
        "null": None,
        "array": [],
        "string": "x",
        "number": 1,
        "empty object": {},
        "unknown field": step(1, admin=True),
        "two wrong fields": step(1, tokens=-1, rework="no"),
        "wrong in a list": step(1, confidences=[0.1, 7]),
        "float for an integer": step(1, tokens=1.0),
        "true for an integer": step(1, tokens=True),
        "too large": step(1, tokens=10**13),
        "wrong word": step(1, intent="x"),
        "batch of none": {"steps": []},
        "batch with a hole": {"steps": [step(1), step(3)]},
        "batch with a wrong step": {"steps": [step(1), {"number": "2"}]},
        "batch of 101": {"steps": [step(n) for n in range(1, 102)]},
    }
    raw = {
        "nothing": b"",
        "no JSON": b"{",
        "two documents": good.encode() * 2,
        "duplicate key": b'{"number": 1, "number": 1}',
        "NaN": b'{"number": NaN}',
        "lone surrogate": rb'{"number": "\ud800"}',
        "NUL": b'{"number": "\\u0000"}',
        "Latin-1": '{"number": "é"}'.encode("latin-1"),
        "too deep": b"[" * 33 + b"]" * 33,
        "just deep enough": b"[" * 32 + b"]" * 32,
        "2^53": b'{"number": 9007199254740992}',
        "minus nought": b'{"number": -0}',
    }
    return {name: json.dumps(body).encode() for name, body in documents.items()} | raw


def test_bad_bodies_are_refused_in_the_same_words(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        for door in ("steps", "steps/batch"):
            for what, raw in wrong_bodies().items():
                for who in ("agent", "person"):
                    client = getattr(stage, who)
                    path = f"/runs/{stage.run}/{door}"
                    answer = client.post(path, content=raw, headers=JSON)
                    stage.hear(f"{who}: {what} to {door}", answer)

    alike(stages)


def test_odd_heads_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        for door, body in (
            ("steps", step(1)),
            ("steps/batch", {"steps": [step(1)]}),
            ("decision", None),
        ):
            for what, odd in ODD_HEADERS.items():
                path = f"runs/{stage.run}/{door}"
                stage.hear(f"{what} at {door}", odd_request(stage, path, body, odd))

    alike(stages)


def test_addresses_and_verbs_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    absent = "01900000-0000-7000-8000-000000000000"
    for stage in stages:
        agent, run, hear = stage.agent, stage.run, stage.hear
        for code in (absent, "x", "%00", "%2e%2e", "a" * 5000, run.upper(), "é"):
            shown = code[:20] if code != run.upper() else "upper case"
            for door in ("steps", "steps/batch", "decision"):
                path = f"/runs/{code}/{door}"
                one = {"steps": [step(1)]} if door == "steps/batch" else step(1)
                hear(f"POST {shown} {door}", agent.post(path, json=one))
                hear(f"GET {shown} {door}", agent.get(path))
        for verb in ("GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"):
            for door in ("steps", "steps/batch"):
                hear(f"{verb} {door}", agent.request(verb, f"/runs/{run}/{door}"))
        for verb in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            hear(f"{verb} decision", agent.request(verb, f"/runs/{run}/decision"))
        for door in ("steps/", "steps/batch/", "decision/", "steps//batch"):
            hear(
                f"{door} with a slash", agent.post(f"/runs/{run}/{door}", json=step(1))
            )

    alike(stages)


def test_queries_are_read_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        review = pause_run(stage.agent, stage.run)["review"]["id"]
        for query in (
            *("wait=0", "wait=", "wait=56", "wait=-1", "wait=x", "wait=%EF%BC%95"),
            *("wait=0&wait=99", "wait=99&wait=0", "wait", "wait=0;review=x", "=", "&"),
            *("review=", "review=x", "review=%ff", "review=%00", f"review={review}"),
            f"review=x&review={review}",
            f"review={review.upper()}",
            *("other=1", "wait=0&other=1", "Wait=0", "key=crk_x"),
        ):
            path = f"/runs/{stage.run}/decision?{query}"
            shown = query.replace(review, "<review>").replace(
                review.upper(), "<REVIEW>"
            )
            stage.hear(shown, stage.agent.get(path))

    alike(stages)


def test_a_draft_in_shadow_sees_the_same(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        project = Run.objects.get(code=stage.run).project
        manager = make_person("alice", role=Role.MANAGER, project=project)
        softer = {"rules": {"git-push-force": "warn"}}
        draft = {"continue": {"max_uncertainty": 0.4}, "tools": softer}
        shadow = watch(project, manager, draft)
        steps = f"/runs/{stage.run}/steps"
        stage.hear("same", stage.agent.post(steps, json=step(1)))
        stage.hear("differs", stage.agent.post(steps, json=step(2, uncertainty=0.5)))
        call = {"kind": "command", "command": "git push --force"}
        calls = f"/runs/{stage.run}/tool-calls"
        stage.hear("call", stage.agent.post(calls, json=call))
        stage.heard["seen"] = [
            {**each, "id": None, "shadow": None} for each in list_seen(shadow)
        ]
        moves = [each["move"] for each in stage.heard["seen"]]
        assert moves == ["continue→pause", "require-confirmation→warn"]

    alike(stages)
