"""A manager lets a stopped run go on from its page; others read who may."""

from __future__ import annotations

import re

import httpx
import pytest
from django.http import HttpResponse

from accounts.models import Project
from ledger.models import Run
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy, start_run, step
from tests.support.rows import each_row

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def run(agent: httpx.Client) -> str:
    """Stopped at its budget."""
    code = start_run(agent, budget={"tokens": 1000})
    decision = agent.post(f"/runs/{code}/steps", json=step(1, tokens=1000)).json()
    assert decision["decision"] == "stop"
    return code


@pytest.fixture
def path(project: Project, run: str) -> str:
    return f"/p/{project.slug}/runs/{run}/"


def get_page(person: Person, path: str) -> str:
    return open_browser(person.user).get(path).content.decode()


def send_reopen(person: Person, path: str, **form: str) -> HttpResponse:
    return send(open_browser(person.user), f"{path}reopen/", **form)


def test_a_manager_reopens_it_with_more_budget(
    alice: Person, path: str, run: str, agent: httpx.Client
) -> None:
    page = get_page(alice, path)
    assert 'data-dialog="reopen"' in page
    assert "reopen/" in page
    answer = send_reopen(
        alice, path, reason="Looked at it", tokens="500", minutes="2", cost="1.50"
    )
    assert answer.status_code == 204
    found = agent.get(f"/runs/{run}").json()
    assert found["status"] == "running"
    assert found["budget"]["tokens"]["limit"] == 1500
    assert found["budget"]["time_ms"]["limit"] == 3_720_000
    assert found["budget"]["cost_usd"]["limit"] == "11.50"
    assert found["budget"]["tool_calls"]["limit"] == 10_000
    again = get_page(alice, path)
    assert "Run reopened" in again
    assert "Looked at it" in again


def test_a_reviewer_reads_who_may(alice: Person, bob: Person, path: str) -> None:
    page = get_page(bob, path)
    assert "reopen/" not in page
    head = re.search(r'<div class="head" id="run-head">(.*?)\n</div>', page, re.DOTALL)
    assert head
    assert f"A manager can reopen it: {alice.user.username}." in head[1]
    assert "data-manages" not in page
    assert "data-manages" in get_page(alice, path)


def test_a_reviewer_is_refused(bob: Person, path: str, run: str) -> None:
    answer = send_reopen(bob, path, reason="Please")
    assert answer.status_code == 403
    assert Run.objects.get(code=run).status == "stopped"


@each_row(
    ("form", "field", "said"),
    [
        ({}, "reason", "Say why it may continue."),
        ({"reason": " "}, "reason", "Say why it may continue."),
        ({"reason": "x", "tokens": "-5"}, "tokens", "greater than or equal to 1"),
        ({"reason": "x", "tokens": "many"}, "tokens", "Enter a whole number."),
        ({"reason": "x", "cost": "1.2.3"}, "cost", "Enter a number."),
        ({"reason": "x", "tokens": "9" * 30}, "tokens", "less than or equal to"),
        ({"reason": "x", "minutes": "0"}, "minutes", "greater than or equal to 1"),
        ({"reason": "x\x00"}, "reason", "a character that cannot be stored"),
    ],
)
def test_what_cannot_be_taken_is_said_beside_its_field(
    alice: Person, path: str, run: str, form: dict[str, str], field: str, said: str
) -> None:
    answer = send_reopen(alice, path, **form)
    assert answer.status_code == 422
    html = answer.content.decode()
    error = html.partition(f'id="reopen-{field}-error"')[2].partition("</p>")[0]
    assert said in error
    assert html.count("field-error") == 1
    for name, typed in form.items():
        shown = html.partition(f'name="{name}"')[2].partition("</label>")[0]
        assert typed.strip() in shown
    assert Run.objects.get(code=run).status == "stopped"


def test_only_a_stopped_run_is_reopened(
    alice: Person, project: Project, agent: httpx.Client
) -> None:
    running = f"/p/{project.slug}/runs/{start_run(agent)}/"
    assert 'data-dialog="reopen"' not in get_page(alice, running)
    answer = send_reopen(alice, running, reason="x")
    assert answer.status_code == 422
    assert "only a stopped run is reopened" in answer.content.decode()


def test_strangers_have_no_such_page(charlie: Person, path: str) -> None:
    assert send_reopen(charlie, path, reason="x").status_code == 404


def test_the_page_shows_the_ceiling_and_who_went_past_it(
    alice: Person, bob: Person, project: Project, agent: httpx.Client
) -> None:
    make_policy(
        "default",
        project=project,
        budget={"tokens": 1000},
        budget_ceiling={"tokens": 2000},
    )
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/"
    assert "ceiling 2k" in get_page(bob, path)
    assert "At the policy’s ceiling" not in get_page(bob, path)
    agent.post(f"/runs/{run}/steps", json=step(1, tokens=1000))

    # Up to the ceiling nobody has to be named.
    assert (
        send_reopen(alice, path, reason="Half done", tokens="1000").status_code == 204
    )
    assert "More than the policy’s ceiling." not in get_page(bob, path)
    agent.post(f"/runs/{run}/steps", json=step(2, tokens=1000))
    assert send_reopen(alice, path, tokens="1").status_code == 422
    assert send_reopen(alice, path, reason="It pays", tokens="500").status_code == 204

    page = get_page(bob, path)
    assert "More than the policy’s ceiling." in page
    name = alice.user.username
    assert f"{name} reopened it with more budget: It pays" in page
    assert "ceiling 2k" in page


def test_a_budget_that_is_the_ceiling_says_so(
    bob: Person, project: Project, agent: httpx.Client
) -> None:
    page = get_page(bob, f"/p/{project.slug}/runs/{start_run(agent)}/")
    assert "At the policy’s ceiling" in page
    assert "More than the policy’s ceiling." not in page
