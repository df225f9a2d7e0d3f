"""GET /permissions and /exemptions: what stands, what has ended, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Role
from reviews.models import Permission
from tests.conftest import client_for
from tests.gateway.calls.calls import command, rule
from tests.reviews.permissions.test_exemptions import exempt
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    make_project,
    make_robot,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import problem


def permit(agent: httpx.Client, manager: httpx.Client, number: int) -> str:
    call = command(agent, start_run(agent), f"rm -rf build-{number}")
    ruled = rule(manager, call, "approve", remember={"scope": "exact", "uses": 3})
    assert ruled.status_code == 200, ruled.text
    return str(Permission.objects.get(review__code=call["review"]["id"]).code)


def except_secret(agent: httpx.Client, manager: httpx.Client, number: int) -> str:
    call = command(agent, start_run(agent), f"DB_PASSWORD=Zx81k{number} ./build.sh")
    made: str = exempt(manager, call).json()["id"]
    return made


@pytest.fixture
def elsewhere(live: Live) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """The agent and the manager of another project."""
    project = make_project()
    robot = make_robot(project=project)
    person = make_person("zoe", role=Role.MANAGER, project=project)
    with client_for(live, robot) as agent, client_for(live, person) as manager:
        yield agent, manager


@pytest.mark.parametrize(
    ("door", "make"), [("/permissions", permit), ("/exemptions", except_secret)]
)
def test_a_list_has_what_its_filter_says_of_ones_own_projects(
    agent: httpx.Client,
    manager: httpx.Client,
    reviewer: httpx.Client,
    elsewhere: tuple[httpx.Client, httpx.Client],
    door: str,
    make: Any,
) -> None:
    foreign = make(*elsewhere, 1)
    made = [make(agent, manager, number) for number in range(3)]
    ended = reviewer.post(f"{door}/{made[1]}/revoke").json()
    assert ended["state"] == "revoked"

    def list_ids(query: str = "") -> list[str]:
        answer = reviewer.get(f"{door}{query}")
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert list_ids() == made[::-1]
    assert list_ids("?state=standing") == [made[2], made[0]]
    assert list_ids("?state=ended") == [made[1]]
    first = reviewer.get(f"{door}?limit=2").json()
    assert [item["id"] for item in first["items"]] == [made[2], made[1]]
    assert list_ids(f"?limit=2&cursor={first['next_cursor']}") == [made[0]]
    # A row that has left the filter still says where the next page begins.
    assert list_ids(f"?state=standing&cursor={made[1]}") == [made[0]]
    for wrong in ("?state=other", "?wrong=1", f"?cursor={foreign}"):
        problem(reviewer.get(f"{door}{wrong}"), "invalid")
    problem(reviewer.post(f"{door}/{foreign}/revoke"), "not-found")
    problem(reviewer.post(f"{door}/no-code/revoke"), "not-found")
    assert [item["id"] for item in elsewhere[1].get(door).json()["items"]] == [foreign]


def test_a_permission_that_ended_by_itself_is_listed_as_ended(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    codes = [permit(agent, manager, number) for number in range(3)]
    rows = [Permission.objects.filter(code=code) for code in codes]
    rows[0].update(uses_left=0)
    rows[1].update(expires_at=timezone.now() - timedelta(seconds=1))

    listed = {item["id"]: item for item in manager.get("/permissions").json()["items"]}
    states = [listed[code]["state"] for code in codes]
    assert states == ["used up", "expired", "standing"]
    ended = manager.get("/permissions?state=ended").json()["items"]
    assert {item["id"] for item in ended} == set(codes[:2])


def test_a_permission_tells_all_about_itself(
    agent: httpx.Client,
    manager: httpx.Client,
    reviewer: httpx.Client,
    alice: Person,
    bob: Person,
    robo: Robot,
) -> None:
    code = permit(agent, manager, 1)
    assert command(agent, start_run(agent), "rm -rf build-1")["decision"] == "allow"
    reviewer.post(f"/permissions/{code}/revoke")
    again = manager.post(f"/permissions/{code}/revoke").json()

    row = Permission.objects.select_related("review", "run").get(code=code)
    assert (again["granted_by"], again["revoked_by"]) == (
        alice.user.username,
        bob.user.username,
    )
    assert (again["uses_left"], again["used"]) == (2, 1)
    assert again["last_used_at"] is not None
    assert again["revoked_at"] is not None
    assert (again["scope"], again["tool"]) == ("exact", "Bash")
    assert "rm -rf build-1" in again["covers"]
    assert again["rules"]
    assert (again["review"], again["run"]) == (str(row.review.code), str(row.run.code))
    assert row.expires_at > row.granted_at
