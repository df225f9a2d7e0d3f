"""Who may open which door: every operation by every kind of caller.

The matrix is made from the table that the server goes by. The list of doors comes from the
API itself: one that is not in the table, or that is not tried here, fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from ninja import NinjaAPI

from config.access.enforce import guard_operations
from config.access.operations import OPERATIONS
from config.api import api
from tests.config.authorisation.doors import TARGETS
from tests.config.authorisation.rules import (
    ADMIN_SESSION,
    IN,
    OTHER_AGENT,
    OWN_AGENT,
    build_row,
)
from tests.config.authorisation.target import ABSENT, Target
from tests.config.authorisation.world import World
from tests.support.live import Live
from tests.support.problems import any_problem

pytestmark = pytest.mark.once("asks who may, before any SQL of its own")

# Who still has the password they were given, beside who has chosen their own.
ONE_TIME = {
    "one-time session": "session",
    "one-time session with token": "session with token",
}
UNKNOWN = {
    *("anonymous", "revoked key", "unknown key", "inactive person", "wrong scheme"),
    *("two credentials", "key in the query"),
}
# Never refused, which its host would take as leave to go on: what it is told instead
# stands in tests/gateway/coding_agents/test_fails_closed.py.
HOOK = "POST /hooks/{dialect}/{event}"
OPEN = {door for door, access in OPERATIONS.items() if access.is_open}
ROWS = {
    door: build_row(door, access)
    for door, access in OPERATIONS.items()
    if door not in OPEN and door != HOOK
}
ALLOWED = {
    door: sorted(caller for caller, status in row.items() if status == IN)
    for door, row in ROWS.items()
}
REFUSED = {
    door: {caller: status for caller, status in row.items() if status != IN}
    for door, row in ROWS.items()
}


@pytest.fixture(scope="module")
def world(live: Live) -> Iterator[World]:
    made = World(live)
    yield made
    for client in (made.agent, *made.clients):
        client.close()


def knock(world: World, door: str, caller: str, target: Target) -> httpx.Response:
    method, _, path = door.partition(" ")
    path = path.format(
        run=target.run,
        review=target.review,
        call=target.call,
        permission=target.permission,
        exemption=target.exemption,
        halt=target.halt,
        allowance=target.allowance,
        check=target.check,
        warning=target.warning,
        webhook=target.webhook,
        delivery=target.delivery,
        decision_id=target.decision_id,
        note=target.note,
        name=target.name,
        number=target.number,
        backtest=target.backtest,
        shadow=target.shadow,
        recommendation=target.recommendation,
        incident=target.incident,
        person=target.person,
        invitation=target.invitation,
        token=target.token,
        agent=target.agent,
        key=target.key,
    )
    more = {} if target.body is None else {"json": target.body}
    return world.callers[caller](method, path, **more)


def test_every_door_is_in_the_matrix() -> None:
    found = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
    }

    assert found == set(OPERATIONS)
    assert {*TARGETS, HOOK} | OPEN == found


def test_an_operation_that_is_in_no_table_does_not_start() -> None:
    more = NinjaAPI(urls_namespace="more")
    more.get("/leak")(lambda request: None)
    with pytest.raises(ImproperlyConfigured, match="GET /leak"):
        guard_operations(more)


@pytest.mark.once("judges who asks; that every door opens is repeated below")
@pytest.mark.parametrize("door", sorted(ROWS))
def test_whoever_may_not_is_told_so_and_changes_nothing(
    world: World, door: str
) -> None:
    target = world.keep(door, TARGETS[door])
    before = world.agent.get(f"/runs/{target.run}").content
    expected = dict.fromkeys(UNKNOWN, 401) | REFUSED[door]
    # A door that no session opens does not ask whose it is.
    for newcomer, like in ONE_TIME.items():
        expected[newcomer] = 401 if expected.get(like) == 401 else 403

    told = {}
    for caller in expected:
        answer = knock(world, door, caller, target)
        any_problem(answer)
        told[caller] = answer.status_code

    assert told == expected
    asked = {*expected, *ALLOWED[door]}
    assert set(world.callers) == asked | {ADMIN_SESSION}
    assert world.agent.get(f"/runs/{target.run}").content == before


@pytest.mark.parametrize("door", sorted(ROWS))
def test_every_door_opens(world: World, door: str) -> None:
    enter(world, door, ALLOWED[door][0], TARGETS[door](world))


@pytest.mark.once("judges who asks; that every door opens is repeated above")
@pytest.mark.parametrize(
    "door", sorted(door for door in ROWS if len(ALLOWED[door]) > 1)
)
def test_whoever_else_may_gets_in(world: World, door: str) -> None:
    _, *others = ALLOWED[door]
    target = TARGETS[door](world)
    for number, caller in enumerate(others):
        # What was done once is to be done no more.
        if number and not door.startswith("GET "):
            target = TARGETS[door](world)
        enter(world, door, caller, target)


def enter(world: World, door: str, caller: str, target: Target) -> None:
    answer = knock(world, door, caller, target)
    assert answer.is_success, f"{caller}: {answer.text}"
    world.leave_new_projects()


@pytest.mark.once("judges who asks; that every door opens is repeated above")
@pytest.mark.parametrize("door", sorted(door for door in ROWS if "{" in door))
def test_what_is_elsewhere_looks_like_what_is_nowhere(world: World, door: str) -> None:
    target = world.keep(door, TARGETS[door])
    nowhere = Target(ABSENT, ABSENT, target.body)
    for caller, status in REFUSED[door].items():
        if status == 404:
            there, absent = (
                knock(world, door, caller, each) for each in (target, nowhere)
            )
            assert there.status_code == absent.status_code == 404
            assert there.content == absent.content
            assert set(there.headers) == set(absent.headers)


LISTS = sorted(
    door
    for door, access in OPERATIONS.items()
    if door.startswith("GET ")
    and access.agents == "own"
    and ROWS[door][OTHER_AGENT] == IN
)


@pytest.mark.parametrize("door", LISTS)
def test_what_lists_its_own_tells_an_agent_nothing_of_another(
    world: World, door: str
) -> None:
    target = TARGETS[door](world)
    ids = {
        value
        for each in fields(target)
        if len(value := str(getattr(target, each.name))) == 36 and value != ABSENT
    }
    own, other = (
        knock(world, door, caller, target).text for caller in (OWN_AGENT, OTHER_AGENT)
    )
    assert [each for each in ids if each in own]
    assert not [each for each in ids if each in other]


@pytest.mark.parametrize("door", sorted(OPEN))
def test_health_and_schemas_are_for_everybody(world: World, door: str) -> None:
    # Whoever shows a bad credential is told so, at any door.
    for caller in set(world.callers) - UNKNOWN | {"anonymous", "key in the query"}:
        answer = knock(world, door, caller, Target(ABSENT, ABSENT))
        assert answer.status_code == 200, caller
