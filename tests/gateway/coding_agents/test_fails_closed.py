"""Whatever goes wrong on the way, the host is told to hold: 200, JSON, in time."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client as DjangoClient

from config.fastpath import fail_closed
from config.fastpath.asgi import App, Receive, Scope, Send
from tests.gateway.coding_agents.hosts import Host, load_recorded
from tests.gateway.coding_agents.schemas import SCHEMAS, check_answer
from tests.support.applications import run_lifespan
from tests.support.builders import Person, Robot
from tests.support.live import Live, serve
from tests.support.raw import exchange, head

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")

EVENTS = [(dialect, event) for dialect in SCHEMAS for event in SCHEMAS[dialect]]

SLOW_SECONDS = 30


def holds(event: str, answer: dict[str, Any]) -> bool:
    """The answer keeps the host from going on, as far as this event lets it."""
    match event:
        case "PreToolUse":
            said = answer["hookSpecificOutput"]
            return bool(said["permissionDecision"] == "deny")
        case "PermissionRequest":
            decided = answer["hookSpecificOutput"]["decision"]
            return bool(decided["behavior"] == "deny")
        case "SessionStart" | "SessionEnd":
            return "Checkrail" in answer["systemMessage"]
        case _:
            return answer["continue"] is False and "Checkrail" in answer["stopReason"]


def check(response: httpx.Response, dialect: str, event: str, trouble: str) -> None:
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    assert response.headers["checkrail-trouble"] == trouble
    assert holds(event, check_answer(dialect, event, response.json())), response.text


def test_every_event_holds_when_the_key_is_wrong(live: Live) -> None:
    with httpx.Client(base_url=live.api, trust_env=False) as client:
        for dialect, event in EVENTS:
            for headers in ({}, {"Authorization": "Bearer crk_wrong"}):
                path = f"/hooks/{dialect}/{event}"
                answer = client.post(path, json={"session_id": "s"}, headers=headers)
                check(answer, dialect, event, "unauthenticated")
                assert "CHECKRAIL_KEY" in answer.text


@pytest.mark.parametrize("case", ["judged", "wrong key", "too large"])
def test_a_host_is_never_left_with_a_connection_that_will_be_closed(
    live: Live, robo: Robot, case: str
) -> None:
    """Sent on one that we have just closed, a call is lost, and then it runs."""
    key = "crk_wrong" if case == "wrong key" else robo.key
    event = dict(load_recorded("claude-code", "PreToolUse-Bash"))
    if case == "too large":
        event["padding"] = "x" * 3_000_000
    answer = httpx.post(
        f"{live.api}/hooks/claude-code/PreToolUse",
        json=event,
        headers={"Authorization": f"Bearer {key}"},
        trust_env=False,
    )

    assert answer.headers.get_list("connection") == ["close"]


def test_a_browser_session_opens_no_hook(live: Live, bob: Person) -> None:
    browser = DjangoClient()
    browser.force_login(bob.user)
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: browser.cookies[name].value}
    path = f"{live.api}/hooks/claude-code/PreToolUse"
    answer = httpx.post(path, json={"session_id": "s"}, cookies=cookies)
    check(answer, "claude-code", "PreToolUse", "unauthenticated")


def test_what_is_sent_wrongly_holds(agent: httpx.Client, bob: Person) -> None:
    event = load_recorded("claude-code", "PreToolUse-Bash")
    path = "/hooks/claude-code/PreToolUse"
    junk: dict[str, tuple[Any, dict[str, str]]] = {
        "malformed": (b"{", {}),
        "duplicate-key": (b'{"session_id": "a", "session_id": "b"}', {}),
        "bad-encoding": (b'{"session_id": "\xff"}', {}),
        "too-large": (b'"' + b"x" * 1_048_576 + b'"', {}),
        "unsupported-media": (b"{}", {"Content-Type": "text/plain"}),
        "invalid": (json.dumps({**event, "tool_use_id": None}).encode(), {}),
        "forbidden": (b"{}", bob.headers),
    }
    for trouble, (body, headers) in junk.items():
        usual = {"Content-Type": "application/json", **headers}
        answer = agent.post(path, content=body, headers=usual)
        check(answer, "claude-code", "PreToolUse", trouble)

    wrong_event = agent.post("/hooks/claude-code/PostToolUse", json=event)
    # In the words of the event that the host is at: others would not hold the tool.
    check(wrong_event, "claude-code", "PreToolUse", "invalid")
    for query in (
        "wait_s=0",
        "wait_s=x",
        "wait_s=012345",
        "headless=1",
        "on_allow=no",
        "waits=1",
    ):
        answer = agent.post(f"{path}?{query}", json=event)
        check(answer, "claude-code", "PreToolUse", "invalid")
        assert query.partition("=")[0] in answer.text
    unknown = agent.post(f"{path}?policy=none", json=event)
    check(unknown, "claude-code", "PreToolUse", "invalid")


def test_a_wrong_address_below_hooks_holds(agent: httpx.Client) -> None:
    for path in ("claude-code/Nothing", "cursor/PreToolUse", "claude-code", ""):
        answer = agent.post(f"/hooks/{path}", json={"session_id": "s"})
        assert answer.status_code == 200
        assert "Checkrail" in answer.text
        assert answer.json() != {}


def test_a_strangers_body_is_not_read(live: Live) -> None:
    first = head(
        live,
        "POST",
        "/api/v1/hooks/claude-code/PreToolUse",
        "Content-Type: application/json",
        "Content-Length: 1000000",
    )
    pieces = (b"x" * 10_000 for _ in range(100))
    answer = exchange(live, first, pieces)
    assert answer.status == 200
    assert holds("PreToolUse", answer.json())
    assert answer.closed


def _app(inner: App) -> App:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await run_lifespan(scope, receive, send)
        else:
            await fail_closed.fail_closed(inner, scope, receive, send)

    return application


async def _fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("nobody thought of this")


async def _slow(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await asyncio.sleep(SLOW_SECONDS)


async def _silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    return None


async def _page(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"<html>"})


async def _fault(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 502, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


@pytest.fixture
def inner(request: pytest.FixtureRequest) -> Iterator[Live]:
    with serve(_app(request.param)) as server:
        yield server


@pytest.mark.parametrize(
    ("inner", "trouble"),
    [
        (_fail, "internal"),
        (_slow, "unavailable"),
        (_silent, "unavailable"),
        (_page, "unavailable"),
        (_fault, "unavailable"),
    ],
    indirect=["inner"],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_our_own_faults_hold(
    inner: Live, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    path = "/hooks/claude-code/PreToolUse?wait_s=1"
    # Well before the slow one would have answered.
    answer = httpx.post(inner.api + path, json={}, timeout=SLOW_SECONDS / 2)
    check(answer, "claude-code", "PreToolUse", trouble)


def test_an_answer_of_a_server_that_stops_says_that_the_next_may_know_more(
    claude: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our command hook then asks again, instead of telling the host to give up."""
    given = {"command": "ls", "description": "Looks"}
    answer = claude.send("PreToolUse-Bash", tool_input=given)
    assert "checkrail-trouble" not in answer.headers

    monkeypatch.setattr(fail_closed, "get_hub", lambda: SimpleNamespace(closing=True))
    answer = claude.send("PreToolUse-Bash", tool_input=given)

    assert answer.headers["checkrail-trouble"] == "unavailable"


def test_other_addresses_are_left_alone(agent: httpx.Client) -> None:
    assert agent.get("/hooks/claude-code/PreToolUse").status_code in {404, 405}
    assert agent.post("/runs", json={}).status_code == 422
