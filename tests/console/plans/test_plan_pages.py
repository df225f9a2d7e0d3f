"""A plan on its review and on the page of its run: its exact scope, and what was done."""

from __future__ import annotations

import json

import httpx
import pytest

from accounts.models import Project
from reviews.models import ReviewApproval
from tests.console.queue.test_actions import get_hidden_fields, send_ruling
from tests.gateway.calls.calls import command, tool
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
from tests.support.builders import Person, make_policy, start_run

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
        "Exactly this call, up to 2 times, only below b, and asks no more about",
        "Not covered: it is not certainly below the paths of its step.",
        "Deletes a with all contents",
        "1 hour from the approval on",
        "What it does not cover",
        'name="strike" value="2"',
        "Approve with changes",
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
    assert (
        "Nothing was changed: strike a step or change a call" in none.content.decode()
    )
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
    for text in (
        *("in force", "1 of 2 calls", "0 of 1 call", "1 call outside the plan"),
        *("asks as before", "not covered"),
    ):
        assert text in shown, text
    for text in ("Plan submitted", "Plan in force", "Step 2 of the approved plan"):
        assert text in shown, text
    approve(agent, reviewer, run, build_plan(build_step(bash("rm -rf z"))))
    command(agent, run, "rm -rf z")
    shown = client.get(path).content.decode()
    for text in ("all of it was done", "1 plan before this one", "Plan ended"):
        assert text in shown, text


def test_a_reviewer_changes_a_call_and_how_often_it_runs(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    plan = build_plan(
        build_step(bash("rm -rf build-1", shape="shape", count=3), purpose="Old ones"),
        build_step({"tool": "db", "arguments": {"sql": "DELETE FROM a"}}),
    )
    review = submit(agent, run, plan)
    path = f"/p/{project.slug}/queue/{review['id']}/"
    client = open_browser(alice.user)
    shown = fragment(client, path).content.decode()
    assert 'name="amended-1-1-text"' in shown
    changes = {
        "amended-1-1-text": "rm -rf build-1",
        "amended-1-1-count": "5",
        "amended-2-1-text": '{"sql": "DELETE FROM b"}',
        "amended-2-1-count": "1",
    }

    done = send_ruling(client, path, "amend", **changes)

    assert done.status_code == 200, done.content
    (stands,) = list_plans(agent, run)
    assert [step["planned"] for step in stands["steps"]] == [5, 1]
    assert stands["limits"]["tool_calls"] == 6
    assert stands["steps"][0]["calls"][0]["scope"] == "shape"
    assert command(agent, run, "rm -rf build-9")["decision"] == "allow"
    assert tool(agent, run, "db", sql="DELETE FROM b")["decision"] == "allow"
    assert tool(agent, run, "db", sql="DELETE FROM a")["review"]


def test_a_changed_command_is_covered_exactly_as_it_was_typed(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    planned = bash("rm -rf build-1", shape="shape", count=2)
    review = submit(agent, run, build_plan(build_step(planned)))
    path = f"/p/{project.slug}/queue/{review['id']}/"
    client = open_browser(alice.user)
    # Also by the other button: what is on the screen is what is approved.
    typed = {"amended-1-1-text": "rm -rf build-2"}
    assert send_ruling(client, path, "approve", **typed).status_code == 200
    assert command(agent, run, "rm -rf build-2")["decision"] == "allow"
    assert command(agent, run, "rm -rf build-1")["review"]


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("amended-1-1-count", "0", "A whole number from 1 to 1,000."),
        ("amended-1-1-count", "many", "A whole number from 1 to 1,000."),
        ("amended-1-1-text", " ", "Say what is to run, or strike the step."),
        ("amended-2-1-text", "{", "This is no JSON yet"),
        ("amended-3-1-text", "rm -rf /etc", "no plan covers rm -rf /etc"),
    ],
)
def test_what_cannot_be_read_or_covered_is_said_and_nothing_is_approved(
    agent: httpx.Client,
    alice: Person,
    project: Project,
    name: str,
    typed: str,
    told: str,
) -> None:
    run = start_run(agent)
    plan = build_plan(
        build_step(bash("rm -rf a")),
        build_step({"tool": "db", "arguments": {"sql": "DELETE FROM a"}}),
        build_step(bash("rm -rf b/x"), paths=["b"]),
    )
    review = submit(agent, run, plan)
    path = f"/p/{project.slug}/queue/{review['id']}/"
    client = open_browser(alice.user)
    for action in ("amend", "approve"):
        refused = send_ruling(client, path, action, **{name: typed})
        assert refused.status_code == 422, refused.content
        assert told in refused.content.decode()
    assert list_plans(agent, run)[0]["state"] == "submitted"


def test_what_somebody_changed_is_what_the_next_one_changes(
    agent: httpx.Client,
    reviewer: httpx.Client,
    alice: Person,
    project: Project,
) -> None:
    """The steps have other numbers then; the struck one must not come back."""
    rules = {"approvals": 2, "rules": ["git-push-force"]}
    make_policy("careful", project=project, four_eyes=rules)
    run = start_run(agent, policy="careful")
    plan = build_plan(
        build_step(bash("rm -rf a"), purpose="First"),
        build_step(bash("rm -rf b"), purpose="Second"),
        build_step(bash("git push --force origin topic"), purpose="Third"),
    )
    review = submit(agent, run, plan)
    kept = {"steps": plan["steps"][1:]}
    assert rule_plan(reviewer, review, "amend", amended=kept).status_code == 202
    path = f"/p/{project.slug}/queue/{review['id']}/"
    done = send_ruling(open_browser(alice.user), path, "amend", strike=["1"])
    assert done.status_code == 200, done.content
    changes = ReviewApproval.objects.filter(review__code=review["id"], action="amend")
    newest = changes.order_by("-version")[0]
    steps = json.loads(newest.amended or "")["steps"]
    assert [step["purpose"] for step in steps] == ["Third"]
