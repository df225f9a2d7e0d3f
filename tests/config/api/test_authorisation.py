"""Who may open which door: every operation by every kind of caller.

The list of doors comes from the API itself: one that is not in the matrix fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client as DjangoClient

from accounts.models import Project, Role, User
from accounts.services import agent_key_issue, agent_key_revoke
from config.api import api
from config.health.tasks import heartbeat
from loop.control.clock import run_cycle
from tests.builders import (
    Person,
    Robot,
    make_person,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
    unique,
)
from tests.conftest import PLAIN, client_for
from tests.gateway.calls.calls import command, rule
from tests.gateway.checks.test_flows import fail, opened
from tests.live import Live
from tests.people import seen
from tests.problems import any_problem

# Each adoption must change something: never the default, never the one before.
_resets = cycle(range(4, 100))
ABSENT = "01900000-0000-7000-8000-000000000000"
ANYBODY = {"own agent", "other agent", "foreign agent"}
MEMBERS = {"reviewer", "manager", "admin"}
SESSIONS = {"session", "session with token"}
# Who still has the password they were given, beside who has chosen their own.
ONE_TIME = {
    "one-time session": "session",
    "one-time session with token": "session with token",
}
HOOK = "https://receiver.invalid/hook"
UNKNOWN = {
    *("anonymous", "revoked key", "unknown key", "inactive person", "wrong scheme"),
    *("two credentials", "key in the query"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a door is knocked at with: a run, what belongs to it, and a body."""

    run: str
    review: str
    body: Any = None
    call: str = ABSENT
    permission: str = ABSENT
    check: str = ABSENT
    warning: str = ABSENT
    webhook: str = ABSENT
    delivery: str = ABSENT
    decision_id: str = ABSENT
    note: str = ABSENT
    recommendation: str = ABSENT
    incident: str = ABSENT


class World:
    """One project with everybody in it, and somebody from outside."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.clients: list[httpx.Client] = []
        self.project = make_project()
        self.elsewhere = make_project()
        self.owner = make_robot("owner", project=self.project)
        self.agent = client_for(live, self.owner)
        self.manager = self.person("manager", Role.MANAGER, self.project)

    def person(self, name: str, role: Role, project: Project) -> Person:
        return make_person(name, role=role, project=project)

    @cached_property
    def callers(self) -> dict[str, Callable[..., httpx.Response]]:
        here = self.project
        reviewer = self.person("reviewer", Role.REVIEWER, here)
        inactive = self.person("inactive", Role.ADMIN, here)
        inactive.user.is_active = False
        inactive.user.save()
        newcomer = self.person("newcomer", Role.ADMIN, here)
        User.objects.filter(pk=newcomer.user.pk).update(must_change_password=True)
        issued, revoked = agent_key_issue(name="owner", project_slug=here.slug)
        agent_key_revoke(key=issued)
        owner = f"Bearer {self.owner.key}"
        return {
            "own agent": self.by(self.owner),
            "other agent": self.by(make_robot("other", project=here)),
            "foreign agent": self.by(make_robot("owner", project=self.elsewhere)),
            "reviewer": self.by(reviewer),
            "manager": self.by(self.manager),
            "admin": self.by(self.person("admin", Role.ADMIN, here)),
            "outsider": self.by(self.person("outsider", Role.ADMIN, self.elsewhere)),
            "anonymous": self.with_headers([]),
            "revoked key": self.with_headers([("Authorization", f"Bearer {revoked}")]),
            "unknown key": self.with_headers([("Authorization", f"{owner[:-1]}!")]),
            "inactive person": self.by(inactive),
            "wrong scheme": self.with_headers(
                [("Authorization", owner.replace("Bearer", "bearer"))]
            ),
            "two credentials": self.with_headers([("Authorization", owner)] * 2),
            "key in the query": self.with_headers([], query=f"?key={self.owner.key}"),
            "session": self.by_session(reviewer),
            "session with token": self.by_session(reviewer, csrf=True),
            "one-time session": self.by_session(newcomer),
            "one-time session with token": self.by_session(newcomer, csrf=True),
        }

    def by(self, somebody: Person | Robot) -> Callable[..., httpx.Response]:
        self.clients.append(client_for(self.live, somebody))
        return self.clients[-1].request

    def with_headers(
        self, headers: list[tuple[str, str]], *, query: str = ""
    ) -> Callable[..., httpx.Response]:
        client = httpx.Client(
            base_url=self.live.api, headers=headers, verify=PLAIN, trust_env=False
        )

        def ask(method: str, path: str, **more: Any) -> httpx.Response:
            client.cookies.clear()
            return client.request(method, path + query, **more)

        self.clients.append(client)
        return ask

    def by_session(
        self, person: Person, *, csrf: bool = False
    ) -> Callable[..., httpx.Response]:
        browser = DjangoClient()
        browser.force_login(person.user)
        name = settings.SESSION_COOKIE_NAME
        cookie = f"{name}={browser.cookies[name].value}"
        headers = [("Cookie", cookie)]
        if csrf:
            token = "x" * 32
            cookie = f"{cookie}; {settings.CSRF_COOKIE_NAME}={token}"
            headers = [("Cookie", cookie), ("X-CSRFToken", token)]
        return self.with_headers(headers)

    def running(self, body: Any = None) -> Target:
        return Target(start_run(self.agent), ABSENT, body)

    def with_steps(self) -> Target:
        target = self.running()
        self.agent.post(f"/runs/{target.run}/steps", json=step(1))
        self.agent.post(f"/runs/{target.run}/checkpoints", json={"step": 1})
        return target

    def finished(self) -> Target:
        """Over: a stream of its events comes to an end."""
        target = self.running()
        self.agent.post(f"/runs/{target.run}/finish", json={"outcome": "failed"})
        return target

    def asking(self, body: Any = None) -> Target:
        run = start_run(self.agent)
        asked = {"kind": "request", "title": "May I?"}
        review = self.agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
        return Target(run, review, body)

    def paused(self, action: str | None = None) -> Target:
        run = start_run(self.agent)
        review = pause_at_once(self.agent, run)
        if action is None:
            return Target(run, review)
        with client_for(self.live, self.manager) as manager:
            return Target(run, review, {"action": action, **seen(manager, review)})

    def claimed(self) -> Target:
        """Not claimed at all: then only a manager may release it."""
        return self.paused()

    def calling(self, body: Any = None) -> Target:
        """A call that was allowed; its body may need the digest of its grant."""
        run = start_run(self.agent)
        call = command(self.agent, run, "ls")
        if body is None:
            body = {"digest": call["digest"]}
        return Target(run, ABSENT, body, call=call["id"])

    def looked_up(self) -> Target:
        target = self.calling()
        return Target(target.run, ABSENT, call=target.call)

    def permitted(self) -> Target:
        run = start_run(self.agent)
        call = command(self.agent, run, f"rm -rf {unique('build')}")
        with client_for(self.live, self.manager) as manager:
            rule(manager, call, "approve", remember={"scope": "exact"})
            (newest, *_) = manager.get("/permissions").json()["items"]
        return Target(run, call["review"]["id"], permission=newest["id"])

    def checking(self, body: Any = None) -> Target:
        run = start_run(self.agent)
        check = opened(self.agent, run, "code-quality", step=0)
        return Target(run, ABSENT, body, check=check["id"])

    def warned(self) -> Target:
        target = self.checking()
        told = fail(self.agent, target.run, {"id": target.check})
        (warning,) = told["advisory_warnings"]
        return Target(target.run, ABSENT, warning=warning["id"])

    def hooked(self) -> Target:
        """In the manager's project; they have no other."""
        with client_for(self.live, self.manager) as manager:
            body = {"url": HOOK, "types": ["run.stopped"]}
            webhook = manager.post("/webhooks", json=body).json()["id"]
        return Target(start_run(self.agent), ABSENT, webhook=webhook)

    def told(self) -> Target:
        target = self.hooked()
        with client_for(self.live, self.manager) as manager:
            path = f"/webhooks/{target.webhook}"
            delivery = manager.post(f"{path}/test").json()["id"]
            manager.post(f"{path}/disable")
            manager.post(f"{path}/enable")
        return replace(target, delivery=delivery)

    @cached_property
    def looped(self) -> Target:
        """A loop that has done everything; most of it may be told again and again."""
        run = start_run(self.agent)
        failed = {"type": "agent/loop.failed", "data": {"agent": "robo"}}
        decision = self.agent.post("/loop/signals", json=failed).json()["decision_id"]
        notes = [
            self.agent.post("/loop/notes", json={"text": "n"}).json()["id"]
            for _ in range(2)
        ]
        run_cycle(self.project.pk)
        for note, end in zip(notes, ("done", "failed"), strict=True):
            self.agent.post(f"/loop/notes/{note}/{end}", json={})
        # A stop at another door of this matrix may have opened one more.
        incident, *_ = self.agent.get("/loop/incidents").json()["items"]
        return Target(
            *(run, ABSENT),
            decision_id=decision,
            note=notes[0],
            incident=incident["id"],
        )

    def told_of(self, body: Any) -> Target:
        return replace(self.looped, body=body)

    def note_failed(self) -> Target:
        looped = self.looped  # first: it is what makes the note
        newest = self.agent.get("/loop/notes?state=failed").json()["items"][0]
        return replace(looped, body={}, note=newest["id"])

    def recommended(self) -> Target:
        change = {"set": {"checks": {"max_resets": next(_resets)}}}
        body = {"title": "t", "change": change}
        row = self.agent.post("/loop/recommendations", json=body).json()
        return replace(
            self.looped,
            recommendation=row["id"],
            body={"based_on": row["draft"]["based_on"]},
        )

    def stopped(self) -> Target:
        target = self.running({"reason": "looked at it"})
        body = step(1, coherence=0.1)
        self.agent.post(f"/runs/{target.run}/steps", json=body)
        return target


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Who gets in, and what everybody else is told."""

    target: Callable[[World], Target]
    allowed: set[str]
    refused: dict[str, int]


def agents_only(target: Callable[[World], Target]) -> Door:
    refused = dict.fromkeys({*MEMBERS, "outsider"}, 403)
    refused |= {"other agent": 404, "foreign agent": 404}
    refused |= {"session": 401, "session with token": 401}
    return Door(target=target, allowed={"own agent"}, refused=refused)


def readers(target: Callable[[World], Target], *, session: bool = True) -> Door:
    sessions = {"session", "session with token"}
    refused = {"other agent": 404, "foreign agent": 404, "outsider": 404}
    if not session:
        refused |= dict.fromkeys(sessions, 401)
    allowed = {"own agent", *MEMBERS} | (sessions if session else set())
    return Door(target=target, allowed=allowed, refused=refused)


def people_only(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    refused = dict.fromkeys(ANYBODY, 403) | {"outsider": 404}
    allowed = {*MEMBERS, "session with token"}
    if reads:
        allowed.add("session")
    else:
        refused["session"] = 403
    return Door(target=target, allowed=allowed, refused=refused)


def managers_only(target: Callable[[World], Target]) -> Door:
    refused = dict.fromkeys({*ANYBODY, "reviewer", "session"}, 403)
    refused |= {"outsider": 404, "session with token": 403}
    return Door(target=target, allowed={"manager", "admin"}, refused=refused)


def manages_something(target: Callable[[World], Target]) -> Door:
    """The outsider manages a project too: in there, not in here."""
    return Door(
        target=target,
        allowed={"manager", "admin", "outsider"},
        refused=dict.fromkeys({*ANYBODY, "reviewer", *SESSIONS}, 403),
    )


def in_project(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """For everybody of the project, agents and people alike."""
    refused = {"foreign agent": 404, "outsider": 404}
    allowed = {"own agent", "other agent", *MEMBERS, "session with token"}
    if reads:
        allowed.add("session")
    else:
        refused["session"] = 403
    return Door(target=target, allowed=allowed, refused=refused)


def for_everybody(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """Each in a project of their own."""
    return Door(
        target=target,
        allowed={*EVERYBODY, "session with token"} | ({"session"} if reads else set()),
        refused={} if reads else {"session": 403},
    )


EVERYBODY = {*ANYBODY, *MEMBERS, "outsider"}


def stateless(body: Any) -> Door:
    return Door(
        target=lambda world: world.running(body),
        allowed=EVERYBODY,
        refused=dict.fromkeys(SESSIONS, 401),
    )


DOORS: dict[str, Door] = {
    "POST /runs": Door(
        target=lambda world: world.running({"task": "t"}),
        allowed=ANYBODY,
        refused=dict.fromkeys({*MEMBERS, "outsider"}, 403)
        | dict.fromkeys(SESSIONS, 401),
    ),
    "GET /runs": Door(target=World.running, allowed=EVERYBODY | SESSIONS, refused={}),
    "GET /runs/{run}": readers(World.running),
    "GET /runs/{run}/checkpoints/latest": readers(World.with_steps),
    "GET /runs/{run}/ledger": readers(World.running),
    "GET /runs/{run}/verify": readers(World.running),
    "GET /runs/{run}/decision": readers(World.running, session=False),
    "GET /runs/{run}/events": readers(World.finished),
    "POST /runs/{run}/steps": agents_only(lambda world: world.running(step(1))),
    "POST /runs/{run}/steps/batch": agents_only(
        lambda world: world.running({"steps": [step(1)]})
    ),
    "POST /runs/{run}/checkpoints": agents_only(
        lambda world: world.running({"step": 0})
    ),
    "POST /runs/{run}/finish": agents_only(
        lambda world: world.running({"outcome": "completed"})
    ),
    "POST /runs/{run}/reviews": agents_only(
        lambda world: world.running({"kind": "question", "title": "?"})
    ),
    "POST /reviews/{review}/withdraw": agents_only(World.asking),
    "POST /runs/{run}/abort": people_only(lambda world: world.running({})),
    "POST /runs/{run}/reopen": managers_only(World.stopped),
    "GET /reviews": Door(
        target=World.paused,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "GET /reviews/{review}": people_only(World.paused, reads=True),
    "POST /reviews/{review}/ruling": people_only(lambda world: world.paused("approve")),
    "POST /reviews/{review}/claim": people_only(World.paused),
    "POST /reviews/{review}/release": managers_only(World.claimed),
    "POST /reviews/{review}/comments": people_only(
        lambda world: Target(*_ids(world.paused()), {"text": "hm"})
    ),
    "POST /runs/{run}/tool-calls": agents_only(
        lambda world: world.running({"kind": "command", "command": "ls"})
    ),
    "GET /runs/{run}/tool-calls/{call}": agents_only(World.looked_up),
    "POST /runs/{run}/tool-calls/{call}/claim": agents_only(World.calling),
    "POST /runs/{run}/tool-calls/{call}/result": agents_only(
        lambda world: world.calling({"ok": True})
    ),
    "POST /runs/{run}/gate-checks": agents_only(
        lambda world: world.running({"step": 0, "gates": ["code-quality"]})
    ),
    "GET /runs/{run}/gate-checks/{check}": agents_only(World.checking),
    "POST /runs/{run}/gate-checks/{check}/verdicts": agents_only(
        lambda world: world.checking({"text": "GATE_REVIEW: FAIL - no"})
    ),
    "POST /runs/{run}/warnings/{warning}/acknowledge": people_only(World.warned),
    "POST /runs/{run}/turns": agents_only(lambda world: world.running({})),
    "POST /otlp/v1/traces": Door(
        target=lambda world: world.running({}),
        allowed=ANYBODY,
        refused=dict.fromkeys({*MEMBERS, "outsider"}, 403)
        | dict.fromkeys(SESSIONS, 401),
    ),
    "GET /permissions": Door(
        target=World.permitted,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "POST /permissions/{permission}/revoke": people_only(World.permitted),
    "POST /webhooks": manages_something(
        lambda world: world.running({"url": HOOK, "types": ["run.stopped"]})
    ),
    "GET /webhooks": manages_something(World.running),
    "GET /webhooks/{webhook}": managers_only(World.hooked),
    "DELETE /webhooks/{webhook}": managers_only(World.hooked),
    "POST /webhooks/{webhook}/test": managers_only(World.hooked),
    "POST /webhooks/{webhook}/rotate": managers_only(World.hooked),
    "POST /webhooks/{webhook}/enable": managers_only(World.hooked),
    "POST /webhooks/{webhook}/disable": managers_only(World.hooked),
    "GET /webhooks/{webhook}/deliveries": managers_only(World.hooked),
    "POST /webhooks/deliveries/{delivery}/resend": managers_only(World.told),
    "POST /evaluate/continue": stateless({"step_number": 1}),
    "POST /evaluate/command": stateless({"command": "ls"}),
    "POST /evaluate/tool": stateless({"tool": "Read"}),
    "POST /evaluate/edit": stateless({"file_path": "a", "content": "x"}),
    "POST /evaluate/multi-edit": stateless(
        {"file_path": "a", "original": "x", "edits": [{"old": "x", "new": "y"}]}
    ),
    "POST /evaluate/turn": stateless({"content": "Done."}),
    "POST /evaluate/verdict": stateless({"text": "GATE_REVIEW: FAIL - no"}),
    "POST /loop/signals": for_everybody(
        lambda world: world.told_of({"type": "system/note"})
    ),
    "POST /loop/notes": for_everybody(lambda world: world.told_of({"text": "n"})),
    "POST /loop/recommendations": for_everybody(
        lambda world: world.told_of({"title": "t", "change": {"set": {"checks": {}}}})
    ),
    "GET /loop/decisions": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/notes": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/recommendations": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/incidents": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/decisions/{decision_id}": in_project(
        lambda world: world.looped, reads=True
    ),
    "POST /loop/decisions/{decision_id}/outcome": in_project(
        lambda world: world.told_of({"outcome": "succeeded"})
    ),
    "POST /loop/notes/{note}/done": in_project(lambda world: world.told_of({})),
    "POST /loop/notes/{note}/failed": in_project(World.note_failed),
    "POST /loop/heartbeat": manages_something(lambda world: world.looped),
    "POST /loop/recommendations/{recommendation}/adopt": managers_only(
        World.recommended
    ),
    "POST /loop/recommendations/{recommendation}/dismiss": managers_only(
        World.recommended
    ),
    "POST /loop/incidents/{incident}/resolve": people_only(
        lambda world: world.told_of({})
    ),
    "GET /loop": Door(
        target=lambda world: world.looped,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "GET /loop/summary": Door(
        target=lambda world: world.looped,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "POST /loop/switch": Door(
        target=lambda world: world.told_of({"paused": True}),
        allowed={*MEMBERS, "outsider", "session with token"},
        refused=dict.fromkeys({*ANYBODY, "session"}, 403),
    ),
    "GET /healthz": Door(target=World.running, allowed=set(), refused={}),
    "GET /readyz": Door(target=World.running, allowed=set(), refused={}),
}
OPEN = {"GET /healthz", "GET /readyz"}


def _ids(target: Target) -> tuple[str, str]:
    return target.run, target.review


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
        check=target.check,
        warning=target.warning,
        webhook=target.webhook,
        delivery=target.delivery,
        decision_id=target.decision_id,
        note=target.note,
        recommendation=target.recommendation,
        incident=target.incident,
    )
    more = {} if target.body is None else {"json": target.body}
    return world.callers[caller](method, path, **more)


def test_every_door_is_in_the_matrix() -> None:
    found = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
    }

    # A hook is never refused, which its host would take as leave to go on: what it is
    # told instead stands in tests/gateway/coding_agents/test_fails_closed.py.
    assert found == {*DOORS, "POST /hooks/{dialect}/{event}"}


@pytest.mark.once("judges who asks; that every door works is repeated below")
@pytest.mark.parametrize("door", sorted(set(DOORS) - OPEN))
def test_whoever_may_not_is_told_so_and_changes_nothing(
    world: World, door: str
) -> None:
    target = DOORS[door].target(world)
    before = world.agent.get(f"/runs/{target.run}").content
    expected = dict.fromkeys(UNKNOWN, 401) | DOORS[door].refused
    # A door that no session opens does not ask whose it is.
    for newcomer, like in ONE_TIME.items():
        expected[newcomer] = 401 if expected.get(like) == 401 else 403

    told = {}
    for caller in expected:
        answer = knock(world, door, caller, target)
        any_problem(answer)
        told[caller] = answer.status_code

    assert told == expected
    assert set(world.callers) == set(expected) | DOORS[door].allowed
    assert world.agent.get(f"/runs/{target.run}").content == before


@pytest.mark.parametrize("door", sorted(set(DOORS) - OPEN))
def test_whoever_may_gets_in(world: World, door: str) -> None:
    target = DOORS[door].target(world)
    for number, caller in enumerate(DOORS[door].allowed):
        if number and not door.startswith(
            "GET "
        ):  # done once, it is to be done no more
            target = DOORS[door].target(world)
        answer = knock(world, door, caller, target)
        assert answer.is_success, f"{caller}: {answer.text}"


@pytest.mark.once("judges who asks; that every door works is repeated above")
@pytest.mark.parametrize("door", sorted(door for door in DOORS if "{" in door))
def test_what_is_elsewhere_looks_like_what_is_nowhere(world: World, door: str) -> None:
    target = DOORS[door].target(world)
    nowhere = Target(ABSENT, ABSENT, target.body)
    for caller, status in DOORS[door].refused.items():
        if status == 404:
            there, absent = (
                knock(world, door, caller, each) for each in (target, nowhere)
            )
            assert there.status_code == absent.status_code == 404
            assert there.content == absent.content
            assert set(there.headers) == set(absent.headers)


@pytest.mark.parametrize("door", sorted(OPEN))
def test_health_is_for_everybody(world: World, door: str) -> None:
    heartbeat()  # a worker is there
    # Whoever shows a bad credential is told so, at any door.
    for caller in set(world.callers) - UNKNOWN | {"anonymous", "key in the query"}:
        answer = knock(world, door, caller, Target(ABSENT, ABSENT))
        assert (answer.status_code, answer.json()["status"]) == (200, "ok"), caller
