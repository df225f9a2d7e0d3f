"""A limit that is used up is raised, or its runs halted, from where that is told."""

from __future__ import annotations

import html
import json
import re

import httpx
import pytest
from django.test import Client

from accounts.models import Project
from ledger.models import Entry, Halt, SharedUse
from tests.console.limits.test_pages import stop_by_the_day
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, start_run
from tests.support.problems import problem


@pytest.fixture
def stopped(agent: httpx.Client, project: Project) -> str:
    return stop_by_the_day(agent, project)


def find_acts(browser: Client, project: Project) -> list[str]:
    """The addresses of the buttons of the alert about the limit."""
    page = browser.get(f"/p/{project.slug}/overview/").content.decode()
    section = page[page.index('id="needs-title"') : page.index("</section>")]
    return [html.unescape(each) for each in re.findall(r'hx-get="([^"]*)"', section)]


def read_raises(project: Project) -> list[dict[str, object]]:
    entries = Entry.objects.filter(project=project, type="limit.raised")
    return [json.loads(entry.payload) for entry in entries]


@pytest.mark.usefixtures("stopped")
def test_a_manager_raises_it_in_a_dialog_and_runs_begin_again(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    problem(agent.post("/runs", json={"task": "t"}), "limit-reached")
    address, _ = find_acts(browser, project)
    asked = fragment(browser, address).content.decode()
    assert "<html" not in asked
    assert "Raise the limit of robo" in asked
    assert "<b>1k</b> of 1k tokens" in asked
    form = {"lasts": "period", "policy": "default"}

    refused = send(browser, address, **form, reason="The release")
    assert refused.status_code == 422
    assert "Say how much more." in refused.content.decode()
    assert "The release" in refused.content.decode()
    assert not read_raises(project)

    done = send(browser, address, **form, tokens="500", reason="The release")
    assert (done.status_code, done["HX-Trigger"]) == (204, "acted")
    (told,) = read_raises(project)
    assert (told["scope"], told["more"]) == ("agent_day", {"tokens": 500})
    assert SharedUse.objects.filter(tokens_extra=500).count() >= 1
    start_run(agent)


def test_a_reviewer_halts_the_agent_in_a_dialog(
    agent: httpx.Client, project: Project, bob: Person, manager: httpx.Client
) -> None:
    running = start_run(agent)
    stop_by_the_day(agent, project)
    browser = open_browser(bob.user)
    _, address = find_acts(browser, project)
    asked = fragment(browser, address).content.decode()
    assert "Halt robo?" in asked
    assert "<b>1 open run</b> stops where it is" in asked
    assert "Tokens today: 1k of 1k used" in asked

    assert send(browser, address, reason=" ").status_code == 422
    assert not Halt.objects.filter(project=project).exists()
    done = send(browser, address, reason="Too much")
    assert (done.status_code, done["HX-Trigger"]) == (204, "acted")
    halt = Halt.objects.get(project=project)
    assert (halt.agent and halt.agent.name, halt.reason) == ("robo", "Too much")
    assert Entry.objects.filter(project=project, type="halt.started").count() == 1
    assert agent.post(f"/runs/{running}/steps", json={}).status_code == 422
    body = {"number": 1, "tokens": 0, "tool_calls": 0}
    problem(agent.post(f"/runs/{running}/steps", json=body), "halted")

    again = send(browser, address, reason="Once more")
    assert again.status_code == 409
    assert "halted already" in again.content.decode()
    released = manager.request("DELETE", f"/halts/{halt.code}", json={"reason": "Ok"})
    assert released.status_code == 200, released.text
    assert agent.post(f"/runs/{running}/steps", json=body).status_code == 201


@pytest.mark.usefixtures("stopped")
def test_the_project_is_halted_where_it_is_the_projects_limit(
    project: Project, bob: Person
) -> None:
    address = f"/p/{project.slug}/limits/halt/?scope=project_day"
    browser = open_browser(bob.user)
    assert "Halt the whole project?" in fragment(browser, address).content.decode()
    page = browser.get(address)
    assert page["Location"] == f"/p/{project.slug}/halts/new/"
    assert browser.post(address, {"reason": "All"}).status_code == 302
    assert Halt.objects.get(project=project).agent is None


@pytest.mark.usefixtures("stopped")
def test_nobody_else_acts_on_it(
    project: Project, bob: Person, dora: Person, charlie: Person
) -> None:
    raising, halting = find_acts(open_browser(bob.user), project)
    reviewer, auditor = open_browser(bob.user), open_browser(dora.user)
    assert "A manager can raise it" in fragment(reviewer, raising).content.decode()
    form = {"lasts": "period", "tokens": "5", "reason": "More"}
    assert send(reviewer, raising, **form).status_code == 403
    for address in (raising, halting):
        assert send(auditor, address, **form).status_code in {403, 404}
        assert send(open_browser(charlie.user), address, **form).status_code == 404
    assert not read_raises(project)
    assert not Halt.objects.filter(project=project).exists()


@pytest.mark.usefixtures("stopped")
def test_a_limit_that_is_not_there_is_not_found(project: Project, bob: Person) -> None:
    browser = open_browser(bob.user)
    for query in ("scope=x", "scope=agent_day&agent=nobody", "scope=agent_day"):
        address = f"/p/{project.slug}/limits/halt/?{query}"
        assert send(browser, address, reason="r").status_code == 404
    assert not Halt.objects.filter(project=project).exists()
