"""The page of limits: what is used, who may raise it, and where a stopped run leads."""

from __future__ import annotations

import html
import re

import httpx

from accounts.models import Project
from ledger.models import SharedUse
from tests.gateway.limits.test_tree_budgets import report
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run


def stop_by_the_day(agent: httpx.Client, project: Project) -> str:
    limits = {"agent_day": {"tokens": 1_000, "cost_usd": "5.00"}}
    make_policy("default", project=project, limits=limits)
    run = start_run(agent)
    assert report(agent, run, 1, tokens=1_000)["decision"] == "stop"
    return run


def test_a_stopped_run_leads_to_the_form_that_raises_its_limit(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = stop_by_the_day(agent, project)
    browser = open_browser(alice.user)
    page = browser.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    found = re.search(r'href="([^"]*/limits/raise/[^"]*)"', page)
    assert found
    assert "Raise this agent’s limit of the day" in page
    address = html.unescape(found[1])

    form = browser.get(address).content.decode()
    assert "1k</b> of 1k" in form
    assert 'name="tokens"' in form
    assert 'name="tool_calls"' not in form
    empty = browser.post(address, {"lasts": "period", "policy": "default"})
    assert empty.status_code == 422
    assert "Say how much more." in empty.content.decode()
    assert "Say why, in a sentence." in empty.content.decode()
    body = {"tokens": "500", "cost_usd": "1.5", "lasts": "period", "policy": "default"}
    done = browser.post(address, {**body, "reason": "The release"})
    assert done.status_code == 302
    listed = browser.get(done["Location"]).content.decode()
    for words in ("500 of it given on top", "$1.50 of it given on top", "The release"):
        assert words in listed
    row = SharedUse.objects.get(
        scope="agent", tokens_extra=500, cost_micros_extra=1_500_000
    )
    assert row.tokens == 1_000


def test_for_good_leads_to_the_policy(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tool_calls": 10}})
    browser = open_browser(alice.user)
    address = f"/p/{project.slug}/limits/raise/?scope=project_day"
    body = {"tool_calls": "5", "lasts": "good", "policy": "default", "reason": "More"}
    done = browser.post(address, body)
    assert done["Location"] == f"/p/{project.slug}/policies/default/"
    shown = browser.get(f"/p/{project.slug}/limits/").content.decode()
    assert "of 15" in shown


def test_a_reviewer_sees_the_limits_and_who_may_raise_them(
    agent: httpx.Client, project: Project, bob: Person, alice: Person
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tool_calls": 10}})
    browser = open_browser(bob.user)
    listed = browser.get(f"/p/{project.slug}/limits/").content.decode()
    assert "0</b> of 10" in listed
    assert "limits/raise" not in listed
    address = f"/p/{project.slug}/limits/raise/?scope=project_day"
    assert "A manager can raise it" in browser.get(address).content.decode()
    body = {"tool_calls": "5", "lasts": "period", "reason": "More"}
    assert browser.post(address, body).status_code == 403


def test_without_limits_the_page_says_so(project: Project, alice: Person) -> None:
    browser = open_browser(alice.user)
    listed = browser.get(f"/p/{project.slug}/limits/").content.decode()
    assert "no limit" in listed
    assert "No agent has used anything today." in listed
    address = f"/p/{project.slug}/limits/raise/"
    assert "there is nothing to raise" in browser.get(address).content.decode()
    assert browser.post(address, {"tokens": "5"}).status_code == 422
    assert browser.get(f"{address}?scope=x").status_code == 404
