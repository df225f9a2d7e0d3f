"""A plan on its review and on the page of its run: its exact scope, and what was done."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.console.queue.test_actions import get_hidden_fields, send_ruling
from tests.gateway.calls.calls import command
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    list_plans,
    rule_plan,
    submit,
)
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

PLAN = build_plan(
    build_step(bash("rm -rf a"), purpose="Remove <b>a</b>"),
    build_step(bash("rm -rf b/x", count=2), purpose="Remove b", paths=["b"]),
    build_step(bash("rm -rf c"), purpose="Out of place", paths=["d"]),
    title="Tidy up",
)


def test_the_review_says_what_it_covers_and_what_not(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    review = submit(agent, start_run(agent), PLAN)
    path = f"/p/{project.slug}/queue/{review['id']}/"
    shown = fragment(open_browser(alice.user), path).content.decode()
    for text in (
        "Tidy up",
        "Remove &lt;b&gt;a&lt;/b&gt;",
        "Runs `rm -rf b/x` up to 2 times, only below b, and asks no more about",
        "`rm -rf c` is not covered and asks as before",
        "Today: destructive: Deletes a with all contents",
        "1 hour from the approval on",
        "What it does not cover",
        'name="strike" value="2"',
        "Approve without struck steps",
    ):
        assert text in shown, text


def test_a_reviewer_strikes_a_step(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    review = submit(agent, run, PLAN)
    path = f"/p/{project.slug}/queue/{review['id']}/"
    client = open_browser(alice.user)
    said = {**get_hidden_fields(client, path), "text": "Not b."}
    none = send(client, f"{path}rule/", action="amend", **said)
    assert none.status_code == 422
    assert "Tick the steps that are struck" in none.content.decode()
    every = send(client, f"{path}rule/", action="amend", strike=["1", "2", "3"], **said)
    assert every.status_code == 422

    done = send(client, f"{path}rule/", action="amend", strike=["2"], **said)

    assert done.status_code == 200, done.content
    assert "Struck or changed: Remove b, Out of place" in done.content.decode()
    (plan,) = list_plans(agent, run)
    assert [step["purpose"] for step in plan["steps"]] == ["Remove <b>a</b>"]
    assert command(agent, run, "rm -rf a")["decision"] == "allow"
    assert command(agent, run, "rm -rf b/x")["decision"] == "require-confirmation"


def test_an_approval_lets_in_no_step_that_is_ticked(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    review = submit(agent, run, PLAN)
    path = f"/p/{project.slug}/queue/{review['id']}/"
    done = send_ruling(open_browser(alice.user), path, "approve", strike=["1"])
    assert done.status_code == 200, done.content
    (plan,) = list_plans(agent, run)
    assert (plan["amended"], len(plan["steps"])) == (True, 1)
    assert command(agent, run, "rm -rf a")["decision"] == "require-confirmation"


def test_nobody_strikes_steps_of_another_kind(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    asked = {"kind": "request", "title": "May I?"}
    review = agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    path = f"/p/{project.slug}/queue/{review}/"
    answer = send_ruling(open_browser(alice.user), path, "amend", strike="1")
    assert answer.status_code == 422


def test_the_page_of_the_run_shows_plan_against_reality(
    agent: httpx.Client, reviewer: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/"
    client = open_browser(alice.user)
    assert 'aria-label="Plan"' not in client.get(path).content.decode()
    waiting = submit(agent, run, PLAN)
    assert "waits for a person" in client.get(path).content.decode()
    rule_plan(reviewer, waiting)
    command(agent, run, "rm -rf b/x")
    command(agent, run, "ls")
    shown = client.get(path).content.decode()
    for text in ("in force", "1 of 2 calls", "0 of 1 call", "1 call outside the plan"):
        assert text in shown, text
    for text in ("Plan submitted", "Plan in force", "Step 2 of the approved plan"):
        assert text in shown, text
    approve(agent, reviewer, run, build_plan(build_step(bash("rm -rf z"))))
    command(agent, run, "rm -rf z")
    shown = client.get(path).content.decode()
    for text in ("all of it was done", "1 plan before this one", "Plan ended"):
        assert text in shown, text
