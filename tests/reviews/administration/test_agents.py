"""Agents and keys by the API: made, changed and ended, each in the chain, without a secret."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Agent, AgentKey, Project
from accounts.secrets import build_mark
from accounts.selectors import list_agents
from ledger.models import Run
from reviews.administration.agents.selectors import list_agents_with_keys
from tests.conftest import client_for
from tests.reviews.administration.test_chain import list_entries
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    make_robot,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.problems import problem


def make_agent(admin: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = admin.post("/agents", json={"name": "builder", **body})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def make_key(admin: httpx.Client, agent: str, **body: Any) -> dict[str, Any]:
    answer = admin.post(f"/agents/{agent}/keys", json={"name": "ci", **body})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_the_life_of_an_agent_is_in_the_chain(
    project: Project, live: Live, admin: httpx.Client, cleo: Person, bob: Person
) -> None:
    owner = bob.user.username
    agent = make_agent(admin, owner=owner, description="Builds the shop")
    expires = "2099-01-01T00:00:00Z"
    key = make_key(admin, agent["id"], scopes=["evaluate"], expires_at=expires)
    admin.patch(f"/agents/{agent['id']}", json={"owner": None, "disabled": True})
    admin.patch(f"/agents/{agent['id']}", json={"disabled": True})  # it is already
    ended = admin.delete(f"/agents/{agent['id']}/keys/{key['id']}")
    assert ended.status_code == 204
    assert admin.delete(f"/agents/{agent['id']}/keys/{key['id']}").status_code == 204

    entries = list_entries(project)[2:]
    assert {actor for _, actor, _ in entries} == {cleo.principal.actor}
    about = {"agent": agent["id"], "name": "builder"}
    shown = {"key": key["id"], "key_name": "ci", "prefix": key["prefix"]}
    mark = entries[1][2].pop("secret")
    assert mark == build_mark(AgentKey.objects.get(code=key["id"]).digest)
    assert [(kind, payload) for kind, _, payload in entries] == [
        ("agent.created", {**about, "owner": owner, "description": "Builds the shop"}),
        (
            "key.made",
            {
                **about,
                **shown,
                "scopes": ["evaluate"],
                "expires_at": "2099-01-01T00:00:00.000000Z",
            },
        ),
        (
            "agent.changed",
            {
                **about,
                "before": {"owner": owner, "disabled": False},
                "after": {"owner": None, "disabled": True},
            },
        ),
        ("key.revoked", {**about, **shown}),
    ]
    chain = Run.objects.get(project=project, intent="system-settings")
    stored = "".join(chain.entries.values_list("payload", flat=True))
    assert key["key"] not in stored
    assert AgentKey.objects.get(code=key["id"]).digest not in stored


def test_agents_are_listed_with_their_keys(
    project: Project, admin: httpx.Client, auditor: httpx.Client, robo: Robot
) -> None:
    agent = make_agent(admin)
    key = make_key(admin, agent["id"])
    admin.delete(f"/agents/{agent['id']}/keys/{make_key(admin, agent['id'])['id']}")
    builder, first = auditor.get("/agents").json()["items"]
    assert (builder["name"], first["name"]) == ("builder", "robo")
    (shown,) = builder["keys"]
    assert shown == {name: key[name] for name in shown}
    assert (shown["state"], shown["last_used_at"]) == ("valid", None)
    assert shown["scopes"] == ["runs:write", "loop:write", "evaluate"]
    assert "key" not in shown
    page = auditor.get("/agents?limit=1").json()
    assert [each["name"] for each in page["items"]] == ["builder"]
    more = auditor.get(f"/agents?limit=1&cursor={page['next_cursor']}").json()
    assert [each["name"] for each in more["items"]] == ["robo"]


def test_a_policy_is_the_agents_own_assignment(
    project: Project, admin: httpx.Client
) -> None:
    make_policy("strict", project=project)
    agent = make_agent(admin, policy="strict")
    assert agent["policy"] == "strict"
    (assigned,) = admin.get("/policies/assignments").json()
    assert assigned == {"match": {"agent": "builder"}, "policy": "strict"}
    problem(admin.patch(f"/agents/{agent['id']}", json={"policy": "absent"}), "invalid")
    changed = admin.patch(f"/agents/{agent['id']}", json={"policy": None}).json()
    assert changed["policy"] is None
    assert admin.get("/policies/assignments").json() == []


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": " robo"},
        {"name": "a\nb"},
        {"name": "robo"},
        {"name": "system-loop"},
        {"name": "x", "owner": "nobody"},
        {"name": "x", "key": "y"},
    ],
)
def test_what_makes_no_agent_is_refused(
    project: Project, admin: httpx.Client, robo: Robot, body: dict[str, Any]
) -> None:
    problem(admin.post("/agents", json=body), "invalid")
    names = list_agents(project_id=project.pk).values_list("name", flat=True)
    assert list(names) == ["robo"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["admin"]},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "tomorrow"},
    ],
)
def test_what_makes_no_key_is_refused(
    project: Project, admin: httpx.Client, body: dict[str, Any]
) -> None:
    agent = make_agent(admin)
    problem(admin.post(f"/agents/{agent['id']}/keys", json=body), "invalid")
    assert not AgentKey.objects.filter(agent__code=agent["id"]).exists()


def test_a_key_does_what_its_scopes_say(
    project: Project, live: Live, admin: httpx.Client
) -> None:
    agent = make_agent(admin)
    sent = {
        "runs:write": ("/runs", {"task": "t"}),
        "loop:write": ("/loop/notes", {"text": "n"}),
        "evaluate": ("/evaluate/command", {"command": "ls"}),
    }
    for scope in sent:
        key = make_key(admin, agent["id"], scopes=[scope])["key"]
        with client_for(live, Robot(name="builder", key=key)) as client:
            assert client.get("/runs").status_code == 200
            for other, (path, body) in sent.items():
                answer = client.post(path, json=body)
                if other == scope:
                    assert answer.is_success, answer.text
                else:
                    told = problem(answer, "forbidden")
                    assert f"the scope {other}; yours has {scope}" in told["detail"]
        if scope == "evaluate":
            run = start_run_of(project)
            with client_for(live, Robot(name="builder", key=key)) as client:
                answer = client.post(f"/runs/{run}/steps", json=step(1))
                problem(answer, "forbidden")


def start_run_of(project: Project) -> str:
    return str(Run.objects.filter(project=project, agent__name="builder").get().code)


def test_a_disabled_agent_is_told_who_enables_it(
    project: Project, agent: httpx.Client, admin: httpx.Client
) -> None:
    run = start_run(agent)
    code = str(Agent.objects.get(project=project, name="robo").code)
    admin.patch(f"/agents/{code}", json={"disabled": True})
    told = problem(agent.post(f"/runs/{run}/steps", json=step(1)), "forbidden")
    assert told["detail"].startswith("The agent robo is disabled: an admin")
    admin.patch(f"/agents/{code}", json={"disabled": False})
    assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201


def test_commands_write_the_same_entries(
    project: Project, cleo: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = cleo.user.username
    call_command("agent_key", "built", "--project", project.slug, "--json")
    secret = json.loads(capsys.readouterr().out)["key"]
    call_command("agents", "owner", "built", "--to", owner, "--project", project.slug)
    call_command("agent_keys", "revoke", "built", "--project", project.slug, "--all")
    call_command("agent_keys", "revoke", "built", "--project", project.slug, "--all")
    entries = list_entries(project)[2:]
    assert [kind for kind, *_ in entries] == [
        *("agent.created", "key.made", "agent.changed", "key.revoked"),
    ]
    assert {actor for _, actor, _ in entries} == {"system:system-settings"}
    assert secret not in str(entries)


def test_agents_take_no_more_queries_than_one(project: Project) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            for agent in list_agents_with_keys(project_id=project.pk):
                assert agent.kept_keys  # type: ignore[attr-defined]
                assert agent.project.slug
        return len(asked)

    make_robot("first", project=project)
    before = count()
    for number in range(5):
        make_robot(f"robo-{number}", project=project)
    assert count() == before == 2


def test_an_expired_key_is_listed_as_such(
    project: Project, admin: httpx.Client
) -> None:
    agent = make_agent(admin)
    key = make_key(admin, agent["id"], expires_at="2099-01-01T00:00:00Z")
    past = timezone.now() - timedelta(seconds=1)
    AgentKey.objects.filter(code=key["id"]).update(expires_at=past)
    (shown,) = admin.get("/agents").json()["items"][0]["keys"]
    assert shown["state"] == "expired"
