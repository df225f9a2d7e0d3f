"""Halts on pages: begun, listed, shown everywhere, released in stages."""

from __future__ import annotations

import httpx
from django.urls import reverse

from accounts.models import Project
from console.live.updates import View, build_updates
from ledger.models import Halt
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_robot, start_run
from tests.support.problems import problem


def address(name: str, project: Project, *more: object) -> str:
    return reverse(f"console:{name}", args=[project.slug, *more])


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
    browser.post(address("halt-new", project), {"kind": "project", "reason": "All"})
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
    browser.post(address("halt-new", project), {"kind": "project", "reason": "All"})
    (update,) = build_updates([(view, 0)]).values()
    assert "Halted: the whole project" in update.text
    (quiet,) = build_updates([(view, update.position + 1)]).values()
    assert 'hx-target="#halts"' in quiet.text, "another database: everything anew"
