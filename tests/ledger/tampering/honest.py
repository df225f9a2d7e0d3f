"""A long honest life of a project, made as people, agents and commands make it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import httpx
from django.core.management import call_command

from accounts.models import Project, User
from reviews.administration.own.sign_ins import change_own_password
from tests.console.queue.panes import open_desk
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.reviews.administration.test_password_links import choose, make_link
from tests.reviews.halts.halting import halt, release
from tests.support.browsing import open_client, send
from tests.support.builders import Person, pause_at_once, start_run, step, unique
from tests.support.live import Live
from tests.support.people import rule as rule_on

PASSWORD = "seven quiet otters"


def run_command(*words: str) -> dict[str, Any]:
    said = StringIO()
    call_command(*words, "--json", stdout=said)
    told: dict[str, Any] = json.loads(said.getvalue())
    return told


@dataclass
class Life:
    live: Live
    slug: str = field(default_factory=lambda: unique("honest"))
    clients: list[httpx.Client] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ada, self.admin = self.add("ada", "admin")
        self.max, self.manager = self.add("max", "manager")
        self.rex, self.reviewer = self.add("rex", "reviewer")
        self.aud, self.auditor = self.add("aud", "auditor")
        self.agents = [self.open(self.make_key(name)) for name in ("robo", "other")]
        self.project = Project.objects.get(slug=self.slug)

    def open(self, secret: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {secret}"}
        # People may come to be in several projects.
        here = {"project": self.slug} if secret.startswith("crt_") else {}
        client = httpx.Client(
            base_url=self.live.api, headers=headers, params=here, timeout=60
        )
        self.clients.append(client)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def add(self, name: str, role: str) -> tuple[Person, httpx.Client]:
        told = run_command(
            "user_add", unique(name), "--role", role, "--project", self.slug
        )
        user = User.objects.get(username=told["user"])
        client = self.open(told["token"])
        person = Person(user=user, password=told["password"], token=told["token"])
        return person, client

    def make_key(self, name: str) -> str:
        told = run_command("agent_key", name, "--project", self.slug)
        key: str = told["key"]
        return key

    def live_on(self) -> None:
        self.change_people()
        self.change_agents()
        self.change_policies()
        self.work()
        self.decide()
        self.pause_and_stop()

    def change_people(self) -> None:
        """Roles, invitations, passwords, tokens."""
        admin, rex = self.admin, f"/people/{self.rex.user.code}"
        for role in ("manager", "reviewer"):
            expect(admin.patch(rex, json={"role": role}))
        gone, _ = self.add("gone", "reviewer")
        agent = expect(admin.post("/agents", json={"name": "orphan"}))
        owned = {"owner": gone.user.username}
        expect(admin.patch(f"/agents/{agent['id']}", json=owned))
        expect(admin.delete(f"/people/{gone.user.code}"))
        body = {"email": f"{unique('new')}@example.com", "role": "auditor"}
        invited = expect(admin.post("/people/invitations", json=body))
        path = httpx.URL(invited["link"]).path
        form = {"username": unique("new"), "password": PASSWORD, "again": PASSWORD}
        assert open_client().post(path, form).status_code == 302
        for again in (False, True):
            body = {"email": f"{unique('open')}@example.com", "role": "reviewer"}
            invited = expect(admin.post("/people/invitations", json=body))
            expect(admin.post(f"/invitations/{invited['id']}/send"))
            if again:
                expect(admin.delete(f"/invitations/{invited['id']}"))
        self.rex.user.refresh_from_db()
        for text in (PASSWORD, f"{PASSWORD}!"):
            change_own_password(user=self.rex.user, password=text)
        self.rex, self.reviewer = self.add_again(self.rex, "reviewer")
        link = make_link(self.project, self.aud, by=self.ada)
        assert choose(link) == 302
        self.max.user.refresh_from_db()
        change_own_password(user=self.max.user, password=PASSWORD)
        for name in ("terminal", "laptop"):
            token = expect(self.manager.post("/me/tokens", json={"name": name}))
        expect(self.manager.delete(f"/me/tokens/{token['id']}"))
        self.other = expect(
            admin.post("/projects", json={"name": "Next", "slug": unique("next")})
        )

    def add_again(self, person: Person, role: str) -> tuple[Person, httpx.Client]:
        name = person.user.username
        told = run_command("user_add", name, "--role", role, "--project", self.slug)
        again = Person(user=person.user, password=told["password"], token=told["token"])
        return again, self.open(told["token"])

    def change_agents(self) -> None:
        """Owners, limits, keys."""
        admin = self.admin
        items = expect(admin.get("/agents"))["items"]
        self.ids = {each["name"]: each["id"] for each in items}
        robo = f"/agents/{self.ids['robo']}"
        for change in (
            {"owner": self.max.user.username, "description": "Builds"},
            {"limits": {"tokens": 10**9, "tool_calls": 500, "cost_usd": "1000"}},
            {"disabled": True},
            {"disabled": False},
        ):
            expect(admin.patch(robo, json=change))
        key = expect(admin.post(f"{robo}/keys", json={"name": "ci"}))
        expect(admin.delete(f"{robo}/keys/{key['id']}"))
        body = {"name": "night", "scopes": ["evaluate"]}
        expect(admin.post(f"{robo}/keys", json=body))

    def change_policies(self) -> None:
        limits = {
            "agent_day": {"tokens": 10**9},
            "project_day": {"tokens": 10**9, "tool_calls": 10**6},
            "project_month": {"cost_usd": "1000000"},
        }
        for name in ("default", "strict"):
            document = {"limits": limits, "checks": {"max_resets": 2}}
            body = {"document": document, "note": "Limits", "activate": True}
            expect(self.manager.post(f"/policies/{name}/versions", json=body))
        match = [{"match": {"agent": "other"}, "policy": "strict"}]
        expect(self.manager.put("/policies/assignments", json=match))
        expect(self.admin.patch("/project", json={"default_policy": "strict"}))
        for scope in ("project_day", "project_month"):
            more = {"tokens": 500} if scope == "project_day" else {"cost_usd": "5"}
            body = {"scope": scope, "reason": "More", **more}
            expect(self.manager.post("/limits/raise", json=body))
        body = {"scope": "agent_day", "agent": "robo", "tokens": 7, "reason": "More"}
        expect(self.manager.post("/limits/raise", json=body))

    def work(self) -> None:
        """Many runs of two agents, some below others."""
        self.runs = []
        for agent in self.agents:
            for number in range(3):
                run = start_run(agent, budget={"tokens": 10**6})
                child = start_run(agent, parent_run=run)
                steps = [step(at, cost_usd="0.01") for at in range(1, 4)]
                expect(agent.post(f"/runs/{run}/steps/batch", json={"steps": steps}))
                expect(agent.post(f"/runs/{child}/steps", json=step(1)))
                call = command(agent, child, "ls")
                settle(agent, child, call, tokens=10, cost_usd="0.02", output="x")
                if number == 1:
                    expect(
                        agent.post(
                            f"/runs/{child}/finish", json={"outcome": "completed"}
                        )
                    )
                self.runs.append(run)

    def decide(self) -> None:
        """Rulings, some of them held first, with notes, comments and permissions."""
        agent, run = self.agents[0], self.runs[0]
        kept = command(agent, run, "rm -rf build")
        rule(self.reviewer, kept, "approve", remember={"scope": "exact"})
        assert claim(agent, run, kept).status_code == 200
        assert command(agent, run, "rm -rf build")["decision"] == "allow"
        rule(self.reviewer, command(agent, run, "rm -rf docs"), "deny")
        for end in ("send", "take-back", None):
            call = command(agent, run, f"rm -rf held-{end}")
            desk = open_desk(self.max, self.project, call)
            pane = desk.rule("approve", text="Go on")
            assert pane.status == 200, pane.text
            if end == "send":
                assert send(desk.client, f"{desk.path}send/").status_code == 204
            elif end is not None:
                assert desk.take_back().status == 200
        self.held = call["review"]["id"]

    def pause_and_stop(self) -> None:
        agent, run = self.agents[1], self.runs[-1]
        review = pause_at_once(agent, run, number=4)
        expect(self.reviewer.post(f"/reviews/{review}/comments", json={"text": "Hm"}))
        stopped = halt(self.reviewer, reason="Look first")
        release(self.manager, stopped)
        rule_on(self.reviewer, review, "approve", note="Go on")
        self.manager.post(f"/runs/{self.runs[-2]}/abort", json={"reason": "Enough"})
        halt(self.reviewer, reason="Again")


def expect(answer: httpx.Response) -> Any:
    assert answer.is_success, (
        f"{answer.request.url}: {answer.status_code} {answer.text}"
    )
    return answer.json() if answer.content else None
