"""Requests per key: 429 with Retry-After, before the body is read, for one key alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from checkrail import Checkrail, Outage
from checkrail.hooks.sending import HookRequest, send_event

from common.errors import RateLimited
from config.fastpath.asgi import Scope
from config.fastpath.at_once import AtOnce, Kind, Waiting
from config.fastpath.guard import Guard
from config.fastpath.key_rate import BURST_SECONDS, KeyRate
from tests.conftest import client_for
from tests.gateway.coding_agents.hosts import load_recorded
from tests.support.applications import build_application
from tests.support.builders import Person, Robot, make_project, make_robot
from tests.support.live import Live, serve
from tests.support.problems import problem

BURST = BURST_SECONDS  # at one request a second


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def slow(live: Live) -> Iterator[Live]:
    """One request a second for each key."""
    with serve(build_application(KEY_RATE=1)) as server:
        yield server


def exhaust(client: httpx.Client) -> httpx.Response:
    """Ask until it is too much; returns the refusal."""
    for _ in range(BURST * 3):
        answer = client.get("/runs")
        if answer.status_code != 200:
            return answer
    raise AssertionError("Nothing was refused.")


def test_a_key_may_burst_and_then_goes_at_its_rate() -> None:
    clock = Clock()
    rate = KeyRate(per_second=10, clock=clock)

    assert [rate.wait_for("key") for _ in range(50)] == [0] * 50
    assert rate.wait_for("key") == pytest.approx(0.1)
    assert rate.wait_for("another") == 0
    clock.now += 0.1
    assert rate.wait_for("key") == 0
    assert rate.wait_for("key") > 0
    clock.now += 3600
    assert [rate.wait_for("key") for _ in range(50)] == [0] * 50
    assert rate.wait_for("key") > 0


def test_a_refused_request_costs_nothing() -> None:
    clock = Clock()
    rate = KeyRate(per_second=10, clock=clock)
    waits = [rate.wait_for("key") for _ in range(10_000)]

    assert waits.count(0) == 50
    clock.now += 0.1
    assert rate.wait_for("key") == 0


def test_a_rate_of_nought_refuses_nobody() -> None:
    rate = KeyRate(per_second=0, clock=Clock())

    assert {rate.wait_for("key") for _ in range(10_000)} == {0}


def test_too_many_requests_of_a_key_are_refused_in_words(
    slow: Live, robo: Robot
) -> None:
    other = make_robot(project=make_project())
    with client_for(slow, robo) as agent, client_for(slow, other) as neighbour:
        refusal = problem(exhaust(agent), "rate-limited")

        assert refusal["status"] == 429
        assert "1 request a second" in refusal["detail"]
        answer = agent.post("/runs", json={"task": "one more"})
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert neighbour.post("/runs", json={"task": "mine"}).status_code == 201


def test_a_personal_token_has_a_rate_too(slow: Live, bob: Person) -> None:
    with client_for(slow, bob) as reviewer:
        problem(exhaust(reviewer), "rate-limited")


def test_a_hook_over_the_rate_holds(slow: Live, robo: Robot) -> None:
    event = load_recorded("claude-code", "PreToolUse-Bash")
    with client_for(slow, robo) as agent:
        exhaust(agent)

        answer = agent.post("/hooks/claude-code/PreToolUse", json=event)

        assert answer.status_code == 200
        assert answer.headers["checkrail-trouble"] == "rate-limited"
        said = answer.json()["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny"


def test_the_command_hook_asks_again_until_there_is_room(
    slow: Live, robo: Robot
) -> None:
    event = load_recorded("claude-code", "PreToolUse-Bash")
    with client_for(slow, robo) as agent:
        exhaust(agent)

    answer = send_event(
        HookRequest(
            url=slow.url,
            key=robo.key,
            host="claude-code",
            event="PreToolUse",
            query={},
            body=json.dumps(event).encode(),
            wait=20.0,
        )
    )

    assert "rate" not in json.dumps(answer), answer
    assert "Checkrail could not judge" not in json.dumps(answer), answer


def test_the_client_waits_as_it_is_told_and_goes_on(slow: Live, robo: Robot) -> None:
    outages: list[Outage] = []
    with client_for(slow, robo) as agent:
        exhaust(agent)

    with (
        Checkrail(slow.url, robo.key, on_offline=outages.append) as rail,
        rail.run("Go on") as run,
    ):
        run.step(tokens=1, tool_calls=0)

    assert outages
    assert all(outage.error == "status 429" for outage in outages)
    assert all(outage.retry_in >= 1 for outage in outages)


def test_a_person_and_an_agent_have_a_rate_each(robo: Robot, bob: Person) -> None:
    """Keys and tokens are numbered apart, so that two have the same number."""
    agent = robo.principal
    person = replace(bob.principal, token_id=agent.key_id)
    rate = KeyRate(per_second=1, clock=Clock())
    for _ in range(BURST):
        rate.check(agent)
    with pytest.raises(RateLimited):
        rate.check(agent)

    rate.check(person)


def test_asking_whether_a_key_is_over_its_rate_counts_nothing(robo: Robot) -> None:
    clock = Clock()
    rate = KeyRate(per_second=1, clock=clock)
    for _ in range(BURST):
        assert not any(rate.is_over(robo.principal) for _ in range(20))
        rate.check(robo.principal)
    assert rate.is_over(robo.principal)
    clock.now += 1
    assert not rate.is_over(robo.principal)
    assert not KeyRate(per_second=0).is_over(robo.principal)


def test_the_body_of_a_step_over_the_rate_is_not_read(robo: Robot) -> None:
    guard = Guard()
    guard._key_rate = KeyRate(per_second=1, clock=Clock())
    for _ in range(BURST):
        guard.count(robo.principal)

    read: list[bytes] = []

    def build(raw: bytes, *_: object) -> None:
        read.append(raw)

    scope: Scope = {"method": "POST", "path": "/"}
    waiting = Waiting(Kind(build, 1_000), robo.principal, "", "", None, scope)
    assert not AtOnce(guard).take(waiting, b"{}", lambda _: None)
    assert not AtOnce(Guard()).take(waiting, b"{1}", lambda _: None)
    assert read == [b"{1}"]
