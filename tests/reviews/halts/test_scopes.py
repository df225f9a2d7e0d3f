"""Which scopes may be halted: those of the project, each once at a time."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Membership, Project, Role
from ledger.models import Halt
from tests.conftest import client_for
from tests.reviews.administration.entries import list_changes
from tests.reviews.halts.halting import PROJECT, halt, release
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    make_project,
    make_robot,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import fields, problem


@pytest.fixture
def elsewhere(alice: Person) -> Project:
    """Another project, which the manager manages as well."""
    project = make_project()
    Membership.objects.create(project=project, user=alice.user, role=Role.MANAGER)
    return project


@pytest.fixture
def home(project: Project) -> dict[str, str]:
    return {"project": project.slug}


@pytest.fixture
def there(elsewhere: Project) -> dict[str, str]:
    return {"project": elsewhere.slug}


def ask(
    client: httpx.Client, scope: dict[str, Any], query: dict[str, str]
) -> httpx.Response:
    return client.post("/halts", json={"scope": scope, "reason": "Look"}, params=query)


def list_codes(project: Project, **wanted: Any) -> list[str]:
    rows = Halt.objects.filter(project=project, **wanted).order_by("pk")
    return [str(code) for code in rows.values_list("code", flat=True)]


def test_only_the_very_same_scope_is_halted_already(
    agent: httpx.Client,
    manager: httpx.Client,
    project: Project,
    home: dict[str, str],
    elsewhere: Project,
    there: dict[str, str],
) -> None:
    runs = [start_run(agent) for _ in range(2)]
    for place in (project, elsewhere):
        make_robot("other", project=place)
    shared: list[dict[str, Any]] = [
        {"agent": "other"},
        {"label": "team:shop"},
        PROJECT,
    ]
    scopes: list[dict[str, Any]] = [
        {"agent": "robo"},
        {"label": "team:bank"},
        *({"run": run, "children": each} for run in runs for each in (False, True)),
        *shared,
    ]
    for scope in shared:
        assert ask(manager, scope, there).status_code == 201
    made = [ask(manager, scope, home) for scope in scopes]
    assert [each.status_code for each in made] == [201] * len(scopes)
    nothing = {**dict.fromkeys(["project", "agent", "label", "run"]), "children": False}
    assert [each.json()["scope"] for each in made] == [
        nothing | each for each in scopes
    ]
    codes = [each.json()["id"] for each in made]
    for scope, code in zip(scopes, codes, strict=True):
        told = problem(ask(manager, scope, home), "unchanged")
        assert told["standing"] == code, scope
    assert list_codes(project) == codes
    release(manager, made[0].json())
    assert ask(manager, scopes[0], home).status_code == 201
    assert len(list_codes(elsewhere)) == len(shared)


def test_what_belongs_to_another_project_is_not_halted_in_this_one(
    live: Live,
    project: Project,
    elsewhere: Project,
    home: dict[str, str],
    there: dict[str, str],
    agent: httpx.Client,
    manager: httpx.Client,
) -> None:
    """A person of both sees the run: it is refused for its project alone."""
    run = start_run(agent)
    robots = [make_robot(name, project=elsewhere) for name in ("robo", "strange")]
    hidden = make_project()
    for scope, query, field in (
        ({"run": run}, there, "scope.run"),
        ({"agent": "strange"}, home, "scope.agent"),
    ):
        refused = problem(ask(manager, scope, query), "invalid")
        assert fields(refused) == [f"body.{field}"]
    with client_for(live, make_robot(project=hidden)) as unseen:
        unknown = {"run": start_run(unseen)}
    problem(ask(manager, unknown, home), "not-found")
    standing = halt(manager, {"run": run})  # without a project it is the run's
    for keep in ({"agent": "strange"}, unknown, {"run": _start(live, robots[0])}):
        body = {"reason": "Fine", "keep": [{"label": "a:b"}, keep]}
        refused_at = manager.request("DELETE", f"/halts/{standing['id']}", json=body)
        assert refused_at.status_code in {404, 422}, keep
    assert list_codes(project, released_at=None) == [standing["id"]]
    assert list_codes(elsewhere) == []

    made = ask(manager, {"agent": "robo"}, there)
    row = Halt.objects.get(code=made.json()["id"])
    assert row.agent is not None
    assert (row.project_id, row.agent.project_id) == (elsewhere.pk, elsewhere.pk)
    assert made.json()["project"] == elsewhere.slug


def _start(live: Live, robot: Robot) -> str:
    with client_for(live, robot) as client:
        return start_run(client)


def test_what_is_kept_must_not_be_halted_already(
    project: Project, robo: Robot, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    whole, own = halt(reviewer), halt(reviewer, {"agent": robo.name})
    told = list_changes(project)
    keep = [{"label": "a:b"}, {"agent": robo.name}]
    body = {"reason": "Fine", "keep": keep}
    path = f"/halts/{whole['id']}"
    refused = problem(manager.request("DELETE", path, json=body), "unchanged")
    assert refused["standing"] == own["id"]
    assert list_codes(project, released_at=None) == [whole["id"], own["id"]]
    assert list_changes(project) == told

    release(manager, whole, keep=keep[:1])
    kept = list_codes(project, label="a:b")
    assert list_codes(project, released_at=None) == [own["id"], *kept]
    started, released = list_changes(project)[-2:]
    assert (started[0], released[0]) == ("halt.started", "halt.released")
    assert released[2]["kept"] == [started[2]["halt"]] == kept


def test_a_person_lists_the_halts_of_their_projects_newest_first(
    live: Live,
    project: Project,
    elsewhere: Project,
    there: dict[str, str],
    manager: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    first, second = halt(reviewer, {"label": "a:b"}), halt(reviewer, {"label": "a:c"})
    third = ask(manager, PROJECT, there).json()
    release(manager, first)
    hidden = make_project()
    boss = make_person("boss", role=Role.MANAGER, project=hidden)
    with client_for(live, boss) as stranger:
        theirs = halt(stranger)
        path = f"/halts/{second['id']}"
        problem(stranger.request("DELETE", path, json={"reason": "x"}), "not-found")

    def list_halts(client: httpx.Client, **query: Any) -> list[str]:
        items = client.get("/halts", params=query).json()["items"]
        return [each["id"] for each in items]

    every = [each["id"] for each in (third, second, first)]
    assert list_halts(manager) == every
    assert list_halts(reviewer) == every[1:]
    assert list_halts(manager, state="standing") == every[:2]
    assert list_halts(manager, state="released") == every[2:]
    page = manager.get("/halts", params={"limit": 2}).json()
    assert list_halts(manager, limit=2, cursor=page["next_cursor"]) == every[2:]
    path = f"/halts/{theirs['id']}"
    problem(manager.request("DELETE", path, json={"reason": "x"}), "not-found")
    problem(manager.request("DELETE", "/halts/x", json={"reason": "x"}), "not-found")
