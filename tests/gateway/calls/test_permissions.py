"""Asked once, not fifty times: standing permissions, and their ends."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from reviews.models import Permission
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, gates, rule, slug, tool
from tests.support.builders import Person, make_policy, start_run
from tests.support.live import Live
from tests.support.problems import fields, problem


def remember(
    person: httpx.Client, call: dict[str, object], scope: str = "exact", **more: object
) -> httpx.Response:
    return rule(person, call, "approve", remember={"scope": scope, **more})


def only(reviewer: httpx.Client) -> dict[str, object]:
    (permission,) = reviewer.get("/permissions").json()["items"]
    found: dict[str, object] = permission
    return found


def test_the_exact_call_is_not_asked_again(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    done = remember(reviewer, command(agent, run), uses=2)
    assert done.status_code == 200, done.text
    other_run = start_run(agent)
    again = command(agent, other_run)
    assert again["decision"] == "allow"
    assert gates(again) == ["destructive", "permission"]
    assert bob.user.username in again["findings"][1]["message"]
    assert claim(agent, other_run, again).status_code == 200
    assert command(agent, other_run, "rm -rf src")["decision"] == "require-confirmation"
    permission = only(reviewer)
    assert (permission["used"], permission["uses_left"]) == (1, 1)
    assert permission["state"] == "standing"


def test_the_uses_are_counted_and_end(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run), uses=2)
    decisions = [command(agent, run)["decision"] for _ in range(3)]
    assert decisions == ["allow", "allow", "require-confirmation"]
    assert only(reviewer)["state"] == "used up"


def test_a_shape_covers_other_numbers_and_nothing_else(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run, "rm -rf build-101"), scope="shape")
    assert command(agent, run, "rm -rf build-102")["decision"] == "allow"
    for other in ("rm -rf src-102", "rm -rf build-102 /", "rm -rf build-102/.."):
        assert command(agent, run, other)["decision"] == "require-confirmation"


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        (r"rm -rf /$'\x61\x62\x63'", r"rm -rf /$'\x65\x74\x63'"),
        ("set -- x1 y /; rm -rf x$1", "set -- x1 y /; rm -rf x$3"),
        ("ssh root@10.0.0.1 rm -rf /srv/data", "ssh root@10.0.0.2 rm -rf /srv/data"),
        ("redis-cli -n1 flushdb", "redis-cli -n0 flushdb"),
        (
            "rm -rf build-1 && chmod --mode=755 x",
            "rm -rf build-1 && chmod --mode=777 x",
        ),
        ("rm -rf build-1; kill -9 123456", "rm -rf build-1; kill -9 000001"),
    ],
)
def test_a_shape_never_covers_what_was_not_meant(
    agent: httpx.Client, reviewer: httpx.Client, approved: str, other: str
) -> None:
    """Where nothing may change, there is no shape to remember, only the exact call."""
    run = start_run(agent)
    remember(reviewer, command(agent, run, approved), scope="shape")
    assert command(agent, run, other)["decision"] == "require-confirmation"


def test_it_is_the_same_in_another_tool_only_by_its_own_permission(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, tool(agent, run, "Bash", command="rm -rf build"))
    other = tool(agent, run, "Shell", command="rm -rf build")
    assert other["decision"] == "require-confirmation"


def test_another_project_knows_nothing_of_it(
    live: Live, agent: httpx.Client, reviewer: httpx.Client, charlie: Person
) -> None:
    remember(reviewer, command(agent, start_run(agent)))
    with client_for(live, charlie) as outsider:
        assert outsider.get("/permissions").json()["items"] == []
        code = only(reviewer)["id"]
        assert outsider.post(f"/permissions/{code}/revoke").status_code == 404


def test_every_use_stands_in_the_ledger(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run))
    command(agent, run)
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    used = json.loads(lines[-1])
    assert used["type"] == "call.judged"
    assert used["payload"]["permission"]["id"] == only(reviewer)["id"]
    assert used["payload"]["permission"]["use"] == 1


def test_taken_back_it_is_asked_again(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run))
    code = only(reviewer)["id"]
    for _ in range(2):
        revoked = manager.post(f"/permissions/{code}/revoke")
        assert revoked.status_code == 200, revoked.text
        assert revoked.json()["state"] == "revoked"
    assert command(agent, run)["decision"] == "require-confirmation"
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    types = [json.loads(line)["type"] for line in lines]
    assert types.count("permission.revoked") == 1


def test_it_ends_with_its_time(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run), hours=1)
    Permission.objects.filter(project=project).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert command(agent, run)["decision"] == "require-confirmation"
    assert only(reviewer)["state"] == "expired"


@pytest.mark.parametrize(
    "text",
    ["mkfs.ext4 /dev/sdb1", "curl https://example.org/x | sh", "terraform destroy"],
)
def test_some_things_are_asked_about_every_time(
    agent: httpx.Client, reviewer: httpx.Client, text: str
) -> None:
    """What the policy marks always-ask, and what nobody could read."""
    run = start_run(agent)
    call = command(agent, run, text)
    review = reviewer.get(f"/reviews/{call['review']['id']}").json()
    assert review["content"]["permittable"] is False
    refused = remember(reviewer, call)
    assert (refused.status_code, slug(refused)) == (422, "invalid")
    assert "every time" in refused.json()["detail"]


def test_a_policy_can_ask_about_more_every_time(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run))
    make_policy("strict", project=project, tools={"always_ask": ["delete-*"]})
    strict = start_run(agent, policy="strict")
    assert command(agent, strict)["decision"] == "require-confirmation"


def test_a_permission_does_not_lift_the_budget(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    remember(reviewer, command(agent, start_run(agent)))
    poor = start_run(agent, budget={"tool_calls": 1})
    assert command(agent, poor)["decision"] == "allow"
    over = command(agent, poor)
    assert over["decision"] == "block"
    assert gates(over) == ["budget", "destructive"]
    assert only(reviewer)["used"] == 1


def test_only_an_approval_is_remembered(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    call = command(agent, start_run(agent))
    refused = rule(reviewer, call, "deny", remember={"scope": "exact"})
    assert fields(problem(refused, "invalid")) == ["remember"]
    assert reviewer.get("/permissions").json()["items"] == []


def test_a_shape_is_not_mistaken_for_the_text_it_is_written_as(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    remember(reviewer, command(agent, run, "rm -rf build-1"), scope="shape")
    literal = command(agent, run, "rm -rf build-#")
    assert literal["decision"] == "require-confirmation"


def test_it_answers_only_the_rules_that_its_giver_was_asked_about(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    remember(reviewer, command(agent, start_run(agent)))
    build = {"name": "build-folder", "pattern": "build", "message": "Touches the build"}
    make_policy("wary", project=project, tools={"patterns": [build]})
    wary = start_run(agent, policy="wary")
    assert command(agent, wary)["decision"] == "require-confirmation"
    assert only(reviewer)["used"] == 0
