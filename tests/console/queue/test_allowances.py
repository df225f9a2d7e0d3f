"""The dock offers an allowance where one may be given, and says what is wrong with it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.test import Client

from accounts.models import Project
from console.models import Preferences
from tests.console.queue.panes import open_desk
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy, pause_run, start_run, step

pytestmark = pytest.mark.once("looks at pages, not SQL")


def pause(
    agent: httpx.Client, run: str, number: int = 1, **more: Any
) -> dict[str, Any]:
    body = step(number, **{"uncertainty": 0.8662, **more})
    decision: dict[str, Any] = agent.post(f"/runs/{run}/steps", json=body).json()
    assert decision["decision"] == "pause"
    return decision


def get_allowances(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = agent.get(f"/runs/{run}").json()["allowances"]
    return found


def test_it_is_given_with_the_approval_and_taken_back(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    desk = open_desk(alice, project, pause(agent, run))
    # Rounded up, so that what was reported is allowed.
    assert 'name="allow_up_to"' in desk.look().html
    assert 'value="0.87"' in desk.look().html

    fields = {"allow": "steps", "allow_steps": "20", "allow_up_to": "0.87"}
    ruled = desk.rule("approve", text="Go on", **fields)
    assert ruled.status == 200
    assert "Uncertainty up to 0.87 for 20 steps. 20 left." in ruled.text
    (allowance,) = get_allowances(agent, run)
    assert (allowance["steps"], allowance["up_to"]) == (20, 0.87)

    page = desk.client.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert "20 of 20 steps left" in page
    assert "“Go on”" in page

    answer = send(desk.client, f"{desk.path}disallow/")
    assert "Taken back by" in answer.content.decode()
    assert get_allowances(agent, run) == []


def test_minutes_and_a_share_in_percent(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    desk = open_desk(alice, project, pause_run(agent, run))
    assert "with rework up to" in desk.look().text
    fields = {"allow": "minutes", "allow_minutes": "30", "allow_up_to": "50 %"}
    assert desk.rule("approve", **fields).status == 200
    (allowance,) = get_allowances(agent, run)
    assert (allowance["gate"], allowance["up_to"]) == ("rework", 0.5)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"allow": "steps", "allow_steps": "many"}, "Say for how many steps"),
        ({"allow": "steps", "allow_steps": ""}, "Say for how many steps"),
        ({"allow": "steps", "allow_steps": "101"}, "The policy permits at most 100."),
        ({"allow": "steps", "allow_steps": "0"}, "So many steps cannot be allowed."),
        ({"allow": "minutes", "allow_minutes": "481"}, "permits at most 480"),
        ({"allow": "ever"}, "Choose again for how long"),
        (
            {"allow": "steps", "allow_steps": "5", "allow_up_to": "much"},
            "Up to which value?",
        ),
        (
            {"allow": "steps", "allow_steps": "5", "allow_up_to": "0.99"},
            "permits at most 0.95",
        ),
    ],
)
def test_what_is_wrong_stands_beside_it(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    fields: dict[str, str],
    words: str,
) -> None:
    run = start_run(agent)
    desk = open_desk(alice, project, pause(agent, run))
    refused = desk.rule("approve", **fields)
    assert refused.status == 422
    assert words in refused.text
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_what_is_chosen_counts_only_with_an_approval(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    desk = open_desk(alice, project, pause(agent, run))
    aborted = desk.rule("abort", allow="steps", allow_steps="many", reason="No")
    assert aborted.status == 200
    assert "Allowed" not in aborted.text


def test_it_is_not_offered_where_every_pause_is_asked_about(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    gates = {"uncertainty": "critical"}
    make_policy("careful", project=project, reviews={"severity": {"gates": gates}})
    run = start_run(agent, policy="careful")
    desk = open_desk(alice, project, pause(agent, run))
    assert "this once" not in desk.look().text
    fields = {"allow": "steps", "allow_steps": "5", "text": "Fine"}
    assert desk.rule("approve", **fields).status == 422


def test_a_ruling_that_is_held_gives_it_when_it_is_sent(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    Preferences.objects.filter(user=alice.user).update(takes_back=True)
    run = start_run(agent)
    desk = open_desk(alice, project, pause(agent, run))
    fields = {"allow": "steps", "allow_steps": "5", "allow_up_to": "0.9"}
    desk.rule("approve", **fields)
    assert get_allowances(agent, run) == []
    desk.take_back()
    assert get_allowances(agent, run) == []
    desk.rule("approve", **fields)
    assert send(desk.client, f"{desk.path}send/").status_code == 204
    (allowance,) = get_allowances(agent, run)
    assert (allowance["steps"], allowance["up_to"]) == (5, 0.9)


def test_auditors_see_it_and_cannot_take_it_back(
    agent: httpx.Client, project: Project, alice: Person, dora: Person
) -> None:
    run = start_run(agent)
    desk = open_desk(alice, project, pause(agent, run))
    desk.rule("approve", allow="steps", allow_steps="5")
    (allowance,) = get_allowances(agent, run)
    auditor: Client = open_browser(dora.user)
    path = f"/p/{project.slug}/runs/{run}/"
    assert "5 of 5 steps left" in auditor.get(path).content.decode()
    refused = send(auditor, f"{path}allowances/{allowance['id']}/revoke/")
    assert refused.status_code in (403, 404)
    assert len(get_allowances(agent, run)) == 1
    answer = send(desk.client, f"{path}allowances/{allowance['id']}/revoke/")
    assert answer.status_code == 200
    assert get_allowances(agent, run) == []
