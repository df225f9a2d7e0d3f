"""Steps behind a head that the server has read before: what may have changed since then."""

from __future__ import annotations

import json

import httpx
import pytest

from accounts import auth
from accounts.models import AgentKey, Project
from config.server.http_protocol import TimedProtocol
from tests.config.fastpath.steps.test_at_once import Heard, Line, build_head, open_line
from tests.conftest import client_for
from tests.reviews.halts.halting import halt
from tests.support.applications import build_application
from tests.support.builders import Robot, start_run, step
from tests.support.live import Live, serve


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The addresses of steps that the parser has read the heads of."""
    seen: list[bytes] = []
    begin = TimedProtocol.on_headers_complete

    def watch(protocol: TimedProtocol) -> None:
        if protocol.url.endswith(b"/steps"):
            seen.append(protocol.url)
        begin(protocol)

    monkeypatch.setattr(TimedProtocol, "on_headers_complete", watch)
    # However slow the machine is: a key is looked up once.
    monkeypatch.setattr(auth, "CACHE_SECONDS", 600.0)
    return seen


def report(line: Line, run: str, key: str, number: int) -> Heard:
    raw = json.dumps(step(number)).encode()
    line.send(build_head(f"/runs/{run}/steps", key, len(raw)) + raw)
    return line.hear()


def test_only_the_first_head_is_read(
    agent: httpx.Client, robo: Robot, live: Live, read: list[bytes]
) -> None:
    """The number gets a second digit on the way, and with it the length."""
    run = start_run(agent)
    with open_line(live) as line:
        heard = [report(line, run, robo.key, number) for number in range(1, 13)]
        again = report(line, run, robo.key, 12)
        refused = report(line, run, robo.key, 99)
    assert [each.body["receipt"]["seq"] for each in heard] == list(range(2, 14))
    assert again == heard[-1]
    assert (refused.status, refused.body["expected"]) == (409, 13)
    assert len(read) == 1
    assert agent.get(f"/runs/{run}").json()["last_step"] == 12


def test_a_body_that_is_wrong_is_told_what_is_wrong(
    agent: httpx.Client, robo: Robot, live: Live
) -> None:
    run = start_run(agent)
    path = f"/runs/{run}/steps"
    with open_line(live) as line:
        assert report(line, run, robo.key, 1).status == 201
        for raw, status in (
            (b'{"number":2', 400),
            (b'{"number":2,"number":2,"tokens":1,"tool_calls":0}', 400),
            (b'{"number":2,"tokens":-1,"tool_calls":0}', 422),
            (b"\xff", 400),
        ):
            line.send(build_head(path, robo.key, len(raw)) + raw)
            assert line.hear().status == status
        assert report(line, run, robo.key, 2).status == 201


def test_a_key_that_was_revoked_opens_nothing(
    agent: httpx.Client, admin: httpx.Client, robo: Robot, project: Project, live: Live
) -> None:
    run = start_run(agent)
    key = AgentKey.objects.select_related("agent").get(agent__project=project)
    with open_line(live) as line:
        assert [report(line, run, robo.key, each).status for each in (1, 2)] == [
            201
        ] * 2
        path = f"/agents/{key.agent.code}/keys/{key.code}"
        assert admin.delete(path).status_code == 204
        assert report(line, run, robo.key, 3).status == 401


def test_every_step_counts_for_the_rate_of_its_key(robo: Robot) -> None:
    with serve(build_application(KEY_RATE=1)) as server, open_line(server) as line:
        with client_for(server, robo) as agent:
            run = start_run(agent)
        statuses = [201]
        while statuses[-1] == 201 and len(statuses) < 1_000:
            statuses.append(report(line, run, robo.key, len(statuses)).status)
    assert statuses[-1] == 429


def test_a_halt_holds_steps_behind_a_known_head(
    agent: httpx.Client, reviewer: httpx.Client, robo: Robot, live: Live
) -> None:
    run = start_run(agent)
    with open_line(live) as line:
        assert [report(line, run, robo.key, each).status for each in (1, 2)] == [
            201
        ] * 2
        halt(reviewer, {"run": run})
        heard = report(line, run, robo.key, 3)
    assert (heard.status, heard.body["type"]) == (409, "/problems/halted")
