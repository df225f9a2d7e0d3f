"""A project with everybody in it, and targets for every operation of the API."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from itertools import cycle
from typing import Any

import httpx
from django.conf import settings
from django.test import Client as DjangoClient
from django.utils import timezone

from accounts.models import Membership, Project, Role, User
from accounts.services import issue_agent_key, revoke_agent_key
from loop.control.clock import run_cycle
from reviews.models import Backtest, PolicyShadow, SuggestionSearch
from reviews.policies.services import create_version
from tests.config.authorisation.target import ABSENT, Target
from tests.conftest import PLAIN, client_for
from tests.gateway.calls.calls import command, rule
from tests.gateway.checks.test_flows import fail, open_new_check
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
    unique,
)
from tests.support.live import Live
from tests.support.people import get_seen

# Each adoption must change something: never the default, never the one before.
_resets = cycle(range(4, 100))
HOOK = "https://receiver.invalid/hook"


class World:
    """One project with everybody in it, and somebody from outside."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.clients: list[httpx.Client] = []
        self.kept: dict[str, Target] = {}
        self.project = make_project()
        self.elsewhere = make_project()
        self.owner = make_robot("owner", project=self.project)
        self.agent = client_for(live, self.owner)
        self.manager = self.person("manager", Role.MANAGER, self.project)
        self.admin = self.person("admin", Role.ADMIN, self.project)

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
        issued, revoked = issue_agent_key(name="owner", project_slug=here.slug)
        revoke_agent_key(key=issued)
        owner = f"Bearer {self.owner.key}"
        return {
            "own agent": self.by(self.owner),
            "other agent": self.by(make_robot("other", project=here)),
            "foreign agent": self.by(make_robot("owner", project=self.elsewhere)),
            "auditor": self.by(self.person("auditor", Role.AUDITOR, here)),
            "reviewer": self.by(reviewer),
            "manager": self.by(self.manager),
            "admin": self.by(self.admin),
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
            "admin's session with token": self.by_session(self.admin, csrf=True),
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

    def keep(self, door: str, target: Callable[[World], Target]) -> Target:
        """The same one again for those who are refused, and so leave it as it is."""
        if door not in self.kept:
            self.kept[door] = target(self)
        return self.kept[door]

    def leave_new_projects(self) -> None:
        """Whoever is in one project alone need not name it."""
        new = Membership.objects.exclude(
            project__in=(self.project, self.elsewhere)
        ).filter(project__name="Another")
        new.delete()

    def running(self, body: Any = None) -> Target:
        return Target(start_run(self.agent), ABSENT, body)

    def limited(self) -> Target:
        """More of a limit that both projects have."""
        for project in (self.project, self.elsewhere):
            limits = {"project_day": {"tokens": 10**9}}
            make_policy("limited", project=project, limits=limits)
        body = {"scope": "project_day", "tokens": 1, "reason": "For the release"}
        return self.running(body)

    def with_policy(self) -> Target:
        make_policy("strict", project=self.project)
        return replace(self.running(), name="strict")

    def drafting(self) -> Target:
        """A version that nobody has stored yet."""
        document = {"checks": {"max_resets": next(_resets)}}
        return replace(self.running({"document": document}), name="drafted")

    def drafted(self) -> Target:
        # Another name: whoever manages elsewhere has stored drafts of the first one there.
        target = replace(self.drafting(), name="drafted-here")
        with client_for(self.live, self.manager) as manager:
            stored = manager.post(
                "/policies/drafted-here/versions", json=target.body
            ).json()
        return replace(target, number=stored["version"], body={"note": "Try it"})

    def trying(self) -> Target:
        """A draft of a policy, and none that waits already: so many are taken."""
        here = Backtest.objects.filter(project__in=(self.project, self.elsewhere))
        here.update(state="cancelled")
        return replace(self.running({"document": {}}), name="strict")

    def tried(self) -> Target:
        target = self.trying()
        with client_for(self.live, self.manager) as manager:
            started = manager.post("/policies/strict/backtest", json=target.body).json()
        return replace(target, backtest=started["id"], body=None)

    def watching(self) -> Target:
        """A draft of a policy, and none that runs beside it."""
        running = PolicyShadow.objects.filter(project=self.project, ended_at=None)
        running.update(ended_at=timezone.now())
        make_policy("watched", project=self.project)
        draft = create_version(
            project_id=self.project.pk,
            name="watched",
            document={"checks": {"max_resets": next(_resets)}},
        )
        body = {"version": draft.version.version}
        return replace(self.running(body), name="watched")

    def watched(self) -> Target:
        target = self.watching()
        with client_for(self.live, self.manager) as manager:
            started = manager.post("/policies/watched/shadow", json=target.body).json()
        return replace(target, shadow=started["id"], body={})

    def searching(self) -> Target:
        return replace(self.with_policy(), body={})

    def suggested(self) -> Target:
        """A suggestion that nobody has made a draft of yet."""
        target = self.trying()
        version = make_policy("strict", project=self.project)
        setting = "continue.max_uncertainty"
        value = next(_resets) / 1000
        point = {"caught": 5, "in_vain": 0}
        limit = {
            "setting": setting,
            "gate": "uncertainty",
            "decision": "pause",
            "today": 0.8,
            "suggested": value,
            "enough": True,
            "stopped": 5,
            "approved": 15,
            "completed": 0,
            "steps": 10,
            "decisions_changed": 5,
            "points": [{"value": each, **point} for each in (0.8, value)],
            "examples": [],
        }
        SuggestionSearch.objects.create(
            project=self.project,
            policy="strict",
            version=version.version,
            since=timezone.now() - timedelta(days=1),
            until=timezone.now(),
            state="finished",
            result=json.dumps({"limits": [limit], "rules": []}),
        )
        return replace(target, body={"setting": setting})

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
            return Target(run, review, {"action": action, **get_seen(manager, review)})

    def paused_for_several(self) -> Target:
        alone = self.paused("approve")
        item = {"id": alone.review, **alone.body}
        action = item.pop("action")
        return Target(alone.run, alone.review, {"items": [item], "action": action})

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

    def allowed(self) -> Target:
        """A run that need not ask about its uncertainty for some steps."""
        return self.allow(start_run(self.agent))

    def allow(self, run: str) -> Target:
        number = self.agent.get(f"/runs/{run}").json()["last_step"] + 1
        body = step(number, uncertainty=0.9)
        paused = self.agent.post(f"/runs/{run}/steps", json=body).json()
        with client_for(self.live, self.manager) as manager:
            rule(manager, paused, "approve", allowance={"steps": 5})
            (given,) = manager.get(f"/runs/{run}").json()["allowances"]
        return Target(run, paused["review"]["id"], allowance=given["id"])

    def blocked(self) -> Target:
        """A call with a secret in it that was not met before."""
        run = start_run(self.agent)
        call = command(self.agent, run, f"DB_PASSWORD={unique('Zx81')} ./build.sh")
        (finding,) = call["findings"]
        mark = {
            "call": call["id"],
            "fingerprint": finding["details"]["fingerprint"],
            "reason": "printed in the manual",
        }
        return Target(run, ABSENT, mark, call=call["id"])

    def exempted(self) -> Target:
        target = self.blocked()
        with client_for(self.live, self.manager) as manager:
            made = manager.post("/exemptions", json=target.body).json()
        return Target(target.run, ABSENT, exemption=made["id"])

    def checking(self, body: Any = None) -> Target:
        run = start_run(self.agent)
        check = open_new_check(self.agent, run, "code-quality", step=0)
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
        with client_for(self.live, self.manager) as manager:
            incident, *_ = manager.get("/loop/incidents").json()["items"]
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
        self.agent.post(f"/runs/{target.run}/steps", json=step(1, coherence=0.1))
        return target
