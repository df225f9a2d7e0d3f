"""The hottest doors are answered beside Django: both ways must answer alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from django.test.utils import override_settings

from accounts.models import Role
from config.asgi import build_http
from config.front.wire import Receive, Scope, Send
from ledger.hub import close_hub
from tests.builders import (
    make_person,
    make_project,
    make_robot,
    pause_run,
    start_run,
    step,
)
from tests.conftest import client_for
from tests.live import Live, serve
from tests.people import rule

HEADERS = (
    *("content-type", "content-length", "cache-control", "x-content-type-options"),
    *("idempotency-replayed", "www-authenticate", "allow", "retry-after", "connection"),
)
JSON = {"Content-Type": "application/json"}
MASKS = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    "hash": r"\b[0-9a-f]{64}\b",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
    "name": r"(project|bob)-[0-9a-f]{8}-\d+",
}


@pytest.fixture(scope="module")
def plain(live: Live) -> Iterator[Live]:
    """The same API without the lean front: Django alone behind the guard."""
    with override_settings(LEAN_FRONT=False):
        http = build_http()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await http(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await close_hub()
        await send({"type": "lifespan.shutdown.complete"})

    with serve(application) as server:
        yield server


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A project of its own behind one of the two servers, and what was answered."""

    agent: httpx.Client
    person: httpx.Client
    run: str
    heard: dict[str, Any] = field(default_factory=dict)

    def hear(self, what: str, answer: httpx.Response) -> httpx.Response:
        assert answer.status_code < 500, answer.text
        headers = {name: answer.headers.get(name) for name in HEADERS}
        body = answer.text
        for name, pattern in MASKS.items():
            seen: dict[str, str] = {}

            def mask(
                found: re.Match[str], name: str = name, seen: dict[str, str] = seen
            ) -> str:
                return seen.setdefault(found.group(), f"<{name} {len(seen) + 1}>")

            body = re.sub(pattern, mask, body)
        if "<name 1>" in body:
            headers["content-length"] = None  # names of tests differ in length
        self.heard[what] = (answer.status_code, headers, body)
        return answer


@pytest.fixture
def stages(live: Live, plain: Live) -> Iterator[tuple[Stage, Stage]]:
    made = []
    for server in (live, plain):
        project = make_project()
        agent = client_for(server, make_robot(project=project))
        bob = make_person("bob", role=Role.REVIEWER, project=project)
        person = client_for(server, bob)
        made.append(Stage(agent=agent, person=person, run=start_run(agent)))
    yield made[0], made[1]
    for stage in made:
        stage.agent.close()
        stage.person.close()


def alike(stages: tuple[Stage, Stage]) -> None:
    lean, plain = (stage.heard for stage in stages)
    assert list(lean) == list(plain)
    pairs = {what: (lean[what], plain[what]) for what in lean}
    differences = {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}
    assert differences == {}


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
        stage.person.post(f"/runs/{run}/abort", json={})
        hear("closed", agent.post(steps, json=step(7)))
        hear("batch on closed", agent.post(f"{steps}/batch", json={"steps": [step(7)]}))

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


ODD_HEADERS: dict[str, list[tuple[str, str]]] = {
    "no key": [("Authorization", "")],
    "wrong scheme": [("Authorization", "bearer crk_x")],
    "unknown key": [("Authorization", "Bearer crk_x")],
    "two credentials": [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
    "text": [("Content-Type", "text/plain")],
    "other charset": [("Content-Type", "application/json; charset=utf-16")],
    "utf-8 said": [("Content-Type", 'application/json; charset="UTF-8"')],
    "gzip": [("Content-Encoding", "gzip")],
    "identity": [("Content-Encoding", "identity")],
    "empty idempotency key": [("Idempotency-Key", "")],
    "long idempotency key": [("Idempotency-Key", "k" * 256)],
    "idempotency key with a space": [("Idempotency-Key", "a b")],
    "two idempotency keys": [("Idempotency-Key", "a"), ("Idempotency-Key", "b")],
    "other host": [("Host", "evil.example")],
    "many headers": [(f"X-{n}", "x") for n in range(150)],
    "accepts html": [("Accept", "text/html")],
    "method override": [("X-HTTP-Method-Override", "GET")],
    "forwarded": [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-For", "1.2.3.4")],
    "cookie": [("Cookie", "checkrail_session=x")],
}


def test_odd_heads_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        for door, body in (
            ("steps", step(1)),
            ("steps/batch", {"steps": [step(1)]}),
            ("decision", None),
        ):
            for what, odd in ODD_HEADERS.items():
                stage.hear(f"{what} at {door}", odd_request(stage, door, body, odd))

    alike(stages)


def odd_request(
    stage: Stage, door: str, body: Any, odd: list[tuple[str, str]]
) -> httpx.Response:
    names = {name.lower() for name, _ in odd}
    usual = [("Authorization", stage.agent.headers["Authorization"])]
    raw = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        usual.append(("Content-Type", "application/json"))
    headers = [(n, v) for n, v in usual if n.lower() not in names] + odd
    # A client of its own: one that has no headers of its own to add.
    with httpx.Client(verify=False, trust_env=False) as client:  # noqa: S501
        client.headers.clear()
        return client.request(
            "GET" if body is None else "POST",
            f"{stage.agent.base_url}runs/{stage.run}/{door}",
            content=raw,
            headers=headers,
        )


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
