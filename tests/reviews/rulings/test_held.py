"""A ruling of the console is held: until its page sends it, nothing has been ruled."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Project
from console.models import Preferences
from reviews.models import Grant, HeldRuling, Review
from reviews.rulings.held import GRACE, WINDOW, drop_unsent_rulings
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import claim, command
from tests.support.browsing import send
from tests.support.builders import Person, start_run
from tests.support.people import rule
from tests.support.threads import at_once


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@pytest.fixture
def call(agent: httpx.Client, run: str) -> dict[str, Any]:
    return command(agent, run, "rm -rf build-1")


@pytest.fixture
def desk(project: Project, alice: Person, call: dict[str, Any]) -> Desk:
    Preferences.objects.filter(user=alice.user).update(takes_back=True)
    return open_desk(alice, project, call)


def list_history(client: httpx.Client, call: dict[str, Any]) -> list[str]:
    history = client.get(f"/reviews/{call['review']['id']}").json()["history"]
    return [item["type"] for item in history]


def get_state(agent: httpx.Client, run: str) -> tuple[str, str]:
    told = agent.get(f"/runs/{run}/decision").json()
    return told["state"], told["run_status"]


def test_while_it_is_held_nothing_is_ruled_and_everybody_sees_it(
    project: Project,
    bob: Person,
    desk: Desk,
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
) -> None:
    pane = desk.rule("approve", text="Go on")
    assert pane.status == 200
    assert "You approved this" in pane.text
    assert "Take back" in pane.text
    assert 'value="approve"' not in pane.html

    assert get_state(agent, run) == ("open", "paused")
    assert claim(agent, run, call).status_code == 409
    assert not Grant.objects.filter(run__code=run).exists()
    assert "approved this, sent in" in open_desk(bob, project, call).look().text
    # The ledger of the run, which its agent may read, does not say what was chosen.
    assert (
        "approve" not in agent.get(f"/runs/{run}/ledger").text.split("review.held")[1]
    )


def test_its_page_sends_it(
    desk: Desk, agent: httpx.Client, run: str, call: dict[str, Any]
) -> None:
    desk.rule("approve", text="Go on")
    assert send(desk.client, f"{desk.path}send/").status_code == 204
    told = agent.get(f"/runs/{run}/decision").json()
    assert (told["ruling"]["action"], told["ruling"]["note"]) == ("approve", "Go on")
    assert claim(agent, run, call).status_code == 200
    assert not HeldRuling.objects.filter(review__run__code=run).exists()
    assert send(desk.client, f"{desk.path}send/").status_code == 409
    call_command("ledger_verify", run=run)


def test_what_is_taken_back_was_never_ruled(
    desk: Desk,
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
    call: dict[str, Any],
) -> None:
    desk.rule("approve")
    assert desk.rule("deny", text="No").status == 409

    pane = desk.take_back()

    assert pane.status == 200
    assert 'value="approve"' in pane.html
    assert send(desk.client, f"{desk.path}send/").status_code == 409
    assert get_state(agent, run) == ("open", "paused")
    assert not Grant.objects.filter(run__code=run).exists()
    assert list_history(reviewer, call)[1:] == ["review.held", "review.taken_back"]
    assert desk.rule("deny", text="No").status == 200
    assert send(desk.client, f"{desk.path}send/").status_code == 204
    assert agent.get(f"/runs/{run}/decision").json()["ruling"]["action"] == "deny"


def test_sent_and_taken_back_at_once_it_is_one_of_both(
    project: Project, desk: Desk, agent: httpx.Client
) -> None:
    for number in range(4):
        run = start_run(agent)
        asked = command(agent, run, f"rm -rf build-{number}")
        path = f"/p/{project.slug}/queue/{asked['review']['id']}/"
        here = Desk(client=desk.client, path=path)
        here.rule("approve")

        sent, taken = at_once(
            partial(send, desk.client, f"{path}send/"),
            partial(send, desk.client, f"{path}take-back/"),
        )

        granted = Grant.objects.filter(run__code=run).exists()
        assert (sent.status_code, taken.status_code, granted) in {
            (204, 409, True),
            (409, 200, False),
        }


def test_what_its_page_never_sent_is_dropped_and_told(
    desk: Desk,
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
    call: dict[str, Any],
) -> None:
    desk.rule("approve")
    drop_unsent_rulings()
    assert HeldRuling.objects.filter(review__run__code=run).exists()
    long_ago = timezone.now() - WINDOW - GRACE
    HeldRuling.objects.update(due_at=long_ago)

    assert send(desk.client, f"{desk.path}send/").status_code == 409
    drop_unsent_rulings()

    assert get_state(agent, run) == ("open", "paused")
    assert list_history(reviewer, call)[1:] == ["review.held", "review.unsent"]
    assert "Ruling not sent" in desk.look().text
    assert not Grant.objects.filter(run__code=run).exists()


def test_another_ruling_meanwhile_wins(
    desk: Desk, reviewer: httpx.Client, call: dict[str, Any]
) -> None:
    desk.rule("approve")
    rule(reviewer, call["review"]["id"], "deny", note="No")
    assert send(desk.client, f"{desk.path}send/").status_code == 409
    HeldRuling.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    drop_unsent_rulings()
    assert not HeldRuling.objects.exists()
    assert Review.objects.get(code=call["review"]["id"]).ruling.action == "deny"


def test_what_would_be_refused_is_not_held(desk: Desk, reviewer: httpx.Client) -> None:
    assert desk.rule("answer", text="Yes").status == 422
    assert desk.rule("approve", version=7).status == 412
    code = desk.path.split("/")[-2]
    assert not HeldRuling.objects.filter(review__code=code).exists()
