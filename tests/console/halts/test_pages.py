"""Halts on pages: begun, listed, shown everywhere, released in stages."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Agent, Project
from console.live.updates import View, build_updates
from console.runs.rows import count_fleet
from ledger.models import Halt, Run
from tests.conftest import client_for
from tests.reviews.halts.halting import halt
from tests.support.browsing import open_browser
from tests.support.builders import (
    Person,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import problem


def address(name: str, project: Project, *more: object) -> str:
    return reverse(f"console:{name}", args=[project.slug, *more])


def halt_everything(browser: Client, project: Project) -> None:
    body = {"kind": "project", "reason": "All", "seen": "project=True"}
    assert browser.post(address("halt-new", project), body).status_code == 302


def add_agent(name: str, project: Project) -> Agent:
    make_robot(name, project=project)
    return Agent.objects.get(name=name, project=project)


def plain(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_nothing_is_chosen_before_a_person_chooses(
    project: Project, bob: Person
) -> None:
    browser, page = open_browser(bob.user), address("halt-new", project)
    shown = browser.get(page)
    assert not re.search(r'type="radio"[^>]*checked', shown.content.decode())
    assert "Choose a scope to see what it holds." in plain(shown)
    assert "Halt now" not in plain(shown)
    body = {"reason": "All", "seen": "project=True"}
    refused = browser.post(page, body)
    assert refused.status_code == 422
    assert "Choose what to halt." in plain(refused)
    assert not Halt.objects.filter(project=project).exists()


def test_what_is_halted_was_shown_with_its_effect(
    project: Project, bob: Person, agent: httpx.Client, charlie: Person
) -> None:
    browser, page = open_browser(bob.user), address("halt-new", project)
    effect = address("halt-effect", project)
    pause_at_once(agent, start_run(agent))
    run = start_run(agent)
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "completed"})
    make_robot("other", project=project)
    make_robot("strange", project=make_project())
    for number in range(7):
        Run.objects.filter(code=start_run(agent)).update(
            agent=add_agent(f"many-{number}", project)
        )
    everything = plain(browser.get(effect, {"kind": "project"}))
    assert "Holds 9 open runs of the whole project, with 1 open review." in everything
    assert "robo 2 many-0 1" in everything
    assert "many-4 1 and 2 more agents" in everything
    robo = plain(browser.get(effect, {"kind": "agent", "agent": "robo"}))
    assert "Holds 2 open runs of the agent robo, with 1 open review." in robo
    assert "many-0" not in robo
    idle = plain(browser.get(effect, {"kind": "agent", "agent": "other"}))
    assert "Holds 0 open runs of the agent other." in idle
    asked = {"kind": "agent", "agent": "robo", "reason": "All"}
    for seen in ({}, {"seen": "project=True"}, {"seen": "agent=other"}):
        shown = browser.post(page, {**asked, **seen})
        assert shown.status_code == 200
        assert "Holds 2 open runs of the agent robo" in plain(shown)
        assert ">\nAll</textarea>" in shown.content.decode()
    assert not Halt.objects.filter(project=project).exists()
    for incomplete in (
        {},
        {"kind": "agent"},
        {"kind": "agent", "agent": "strange"},
        {"kind": "label", "label": "shop"},
        {"kind": "run", "run": "7"},
        {"kind": "run", "run": "01900000-0000-7000-8000-000000000000"},
    ):
        assert "Halt now" not in plain(browser.get(effect, incomplete))
    assert open_browser(charlie.user).get(effect).status_code == 404
    from_run = plain(browser.get(page, {"run": run}))
    assert "Holds 1 open run of the run" in from_run
    assert "Halt now" in from_run
    done = browser.post(page, {**asked, "seen": "agent=robo"})
    assert done.status_code == 302
    assert Halt.objects.get(project=project, agent__name="robo").reason == "All"


def test_a_release_of_one_agent_offers_no_other_agents(
    project: Project, alice: Person, manager: httpx.Client
) -> None:
    make_robot("other", project=project)
    browser = open_browser(alice.user)
    one = halt(manager, {"agent": "other"})
    labelled = halt(manager, {"label": "team:shop"})
    page = browser.get(address("halt-release", project, one["id"]))
    assert b"keep_agents" not in page.content
    page = browser.get(address("halt-release", project, labelled["id"]))
    assert b"keep_agents" in page.content


def test_a_reviewer_halts_and_every_page_says_so(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    browser = open_browser(bob.user)
    assert b"Nothing is halted" in browser.get(address("halts", project)).content
    form = browser.get(address("halt-new", project), {"run": run})
    assert run in form.content.decode()
    wrong = {"kind": "label", "label": "shop", "reason": "Look"}
    assert browser.post(address("halt-new", project), wrong).status_code == 422
    assert not Halt.objects.filter(project=project).exists()
    body = {"kind": "run", "run": run, "children": "on", "reason": "<b>Look</b>"}
    body["seen"] = f"run={run} children=True"
    assert browser.post(address("halt-new", project), body).status_code == 302
    for page in ("queue", "runs", "policies", "halts"):
        text = browser.get(address(page, project)).content.decode()
        assert "Halted: the run" in text
        assert "&lt;b&gt;Look&lt;/b&gt;" in text
    listed = browser.get(address("halts", project)).content.decode()
    assert "Holds 1 open run" in listed
    again = browser.post(address("halt-new", project), body)
    assert again.status_code == 409


def test_a_manager_releases_but_for_some(
    project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    make_robot("other", project=project)
    browser, reviewer = open_browser(alice.user), open_browser(bob.user)
    halt_everything(browser, project)
    halt = Halt.objects.get(project=project)
    page = address("halt-release", project, halt.code)
    body = {"reason": "Fine", "keep_agents": ["other"], "keep_labels": "risk:high\n"}
    assert reviewer.post(page, body).status_code == 403
    assert b"A manager can release it" in reviewer.get(page).content
    assert browser.post(page, {"reason": ""}).status_code == 422
    assert browser.post(page, body).status_code == 302
    start_run(agent)
    risky = {"task": "Risky", "labels": {"risk": "high"}}
    problem(agent.post("/runs", json=risky), "halted")
    listed = browser.get(address("halts", project)).content.decode()
    assert "the agent other" in listed
    assert "Released by" in listed
    assert browser.post(page, body).status_code == 409


def test_open_pages_are_told(project: Project, bob: Person) -> None:
    browser = open_browser(bob.user)
    view = View(project_id=project.pk, name="gates")
    halt_everything(browser, project)
    (update,) = build_updates([(view, 0)]).values()
    assert "Halted: the whole project" in update.text
    (quiet,) = build_updates([(view, update.position + 1)]).values()
    assert 'hx-target="#halts"' in quiet.text, "another database: everything anew"


@pytest.mark.parametrize(
    ("scope", "running", "halted"),
    [
        ({"agent": "robo"}, 1, 2),
        ({"label": "team:red"}, 2, 1),
        ({"project": True}, 0, 3),
        ({}, 3, 0),
    ],
)
def test_halted_runs_do_not_count_as_running(
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    live: Live,
    bob: Person,
    scope: dict[str, Any],
    running: int,
    halted: int,
) -> None:
    start_run(agent, labels={"team": "red"})
    start_run(agent)
    pause_at_once(agent, start_run(agent))
    with client_for(live, make_robot("other", project=project)) as other:
        start_run(other)
    if scope:
        halt(reviewer, scope)
    fleet = count_fleet(project_id=project.pk)
    assert (fleet.running, fleet.halted, fleet.paused) == (running, halted, 1)
    assert fleet.total == 4
    shown = plain(open_browser(bob.user).get(address("runs", project)))
    assert f"running {running} paused 1" in shown
    assert (f"halted {halted}" in shown) == bool(halted)
