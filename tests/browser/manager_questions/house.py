"""A project in which all of it happened, and a manager who asks about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import httpx
from playwright.sync_api import Locator, Page

from accounts.models import SYSTEM_AGENTS, Project, Role
from ledger.statistics.counting import count_project
from loop.control.clock import run_cycle
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.gateway.checks.saying import judge, open_check
from tests.support import people
from tests.support.builders import (
    Person,
    make_person,
    make_project,
    make_robot,
    pause_at_once,
    pause_run,
    start_run,
    step,
)
from tests.support.live import Live


@dataclass(frozen=True, kw_only=True)
class House:
    """A project in which all of it happened, and the manager's program."""

    project: Project
    alice: Person
    bob: Person
    agent: httpx.Client
    manager: httpx.Client
    checked: str
    obeyed: str
    astray: str

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        answer = self.manager.get(path, params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def list_entries(self, *types: str) -> list[dict[str, Any]]:
        """Of every run of the project, the server's own included, as they are exported."""
        return [entry for entry in self._entries if entry["type"] in types]

    def list_runs(self) -> list[str]:
        """As of now: a whole check may have begun a chain of the server's own."""
        runs = [self.get("/runs", limit=200)]
        runs += [self.get("/runs", agent=name) for name in SYSTEM_AGENTS]
        return [item["id"] for page in runs for item in page["items"]]

    @cached_property
    def _entries(self) -> list[dict[str, Any]]:
        found = []
        for code in self.list_runs():
            lines = self.manager.get(f"/runs/{code}/ledger").text.splitlines()
            found += [json.loads(line) for line in lines]
        return found

    def list_rulings(self) -> list[tuple[dict[str, Any], timedelta]]:
        """Each ruling of the export, with the time since its review was opened."""
        entries = self.list_entries("review.opened", "review.ruled")
        opened = {
            entry["payload"]["review"]: datetime.fromisoformat(entry["at"])
            for entry in entries
            if entry["type"] == "review.opened"
        }
        return [
            (
                entry,
                datetime.fromisoformat(entry["at"])
                - opened[entry["payload"]["review"]],
            )
            for entry in entries
            if entry["type"] == "review.ruled"
        ]


@contextmanager
def open_house(live: Live) -> Iterator[House]:
    project = make_project()
    alice = make_person("alice", role=Role.MANAGER, project=project)
    bob = make_person("bob", role=Role.REVIEWER, project=project)
    robo = make_robot(project=project)
    clients = [client_for(live, each) for each in (robo, alice, bob)]
    agent, manager, reviewer = clients
    document = manager.get("/policies/default/versions/1").json()["document"]
    document["continue"]["max_rework_ratio"] = 0.4
    wider = {"document": document, "note": "Wider", "activate": True}
    stored = manager.post("/policies/default/versions", json=wider)
    assert stored.status_code == 201, stored.text
    run = start_run(agent, labels={"ticket": "PAY-2214"}, model="some-model")
    for text in ("rm -rf build", "git push --force origin main"):
        call = command(agent, run, text)
        assert rule(manager, call, "approve").status_code == 200
        assert claim(agent, run, call).status_code == 200
        settle(agent, run, call)
    call = command(agent, run, "rm -rf src")
    rule(reviewer, call, "deny", note="Not the sources.")
    lasting = {"scope": "exact", "hours": 8, "uses": 5}
    rule(manager, command(agent, run, "rm -rf dist"), "approve", remember=lasting)
    check = open_check(agent, run, "test-suite")
    judge(agent, run, check, "GATE_REVIEW: PASS - All of them ran")
    redone = pause_run(agent, start_run(agent, task="Redoes its work"))
    people.rule(reviewer, redone["review"]["id"], "approve")
    obeyed = start_run(agent, task="Was paused and waited")
    review = pause_at_once(agent, obeyed)
    people.rule(reviewer, review, "approve")
    agent.post(f"/runs/{obeyed}/steps", json=step(2, cost_usd="1.25"))
    astray = start_run(agent, task="Goes astray")
    agent.post(f"/runs/{astray}/steps", json=step(1, cost_usd="0.50"))
    reason = {"reason": "It rewrites the wrong branch."}
    assert reviewer.post(f"/runs/{astray}/abort", json=reason).status_code == 200
    claimed = pause_at_once(agent, start_run(agent))
    pause_at_once(agent, start_run(agent))
    people.claim(claimed, bob)
    assert manager.post("/loop/heartbeat").status_code == 202
    run_cycle(project.pk)
    count_project(project_id=project.pk)
    yield House(
        project=project,
        alice=alice,
        bob=bob,
        agent=agent,
        manager=manager,
        checked=f"/runs/{run}/gate-checks/{check['id']}",
        obeyed=obeyed,
        astray=astray,
    )
    for client in clients:
        client.close()


@dataclass
class Visit:
    """A manager in front of any page, who will not click more than twice."""

    page: Page
    clicks: list[str] = field(default_factory=list)

    def go(self, page_name: str) -> Locator:
        """By the menu on the left."""
        self.click(self.page.locator(".nav .links").get_by_title(page_name, exact=True))
        return self.page.locator("main")

    def click(self, target: Locator) -> None:
        self.clicks.append(str(target))
        assert len(self.clicks) <= 2, self.clicks
        target.click()
        self.page.wait_for_load_state()
