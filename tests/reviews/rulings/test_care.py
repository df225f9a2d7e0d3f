"""What is severe takes a reason, and where the policy says so a fresh sign-in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from accounts.people.sign_ins import SIGNED_IN_AT
from guidance.core.reviews.care import needs_reason
from reviews.models import Review
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import command
from tests.support.builders import Person, make_policy, start_run
from tests.support.people import get_seen, rule
from tests.support.problems import problem

pytestmark = pytest.mark.once("judges what was said, not SQL")


@pytest.mark.parametrize(
    ("severity", "actions"),
    [
        ("low", set()),
        ("medium", set()),
        ("high", {"deny"}),
        ("critical", {"approve", "deny", "skip"}),
    ],
)
def test_which_rulings_need_a_reason(severity: str, actions: set[str]) -> None:
    every = {"approve", "deny", "abort", "answer", "retry", "skip"}
    assert {each for each in every if needs_reason(each, severity)} == actions


def ask(agent: httpx.Client, project: Project, **reviews: Any) -> dict[str, Any]:
    make_policy("careful", project=project, reviews=reviews)
    return command(agent, start_run(agent, policy="careful"), "rm -rf build-1")


def test_a_screen_says_why_whatever_the_policy(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    call = ask(agent, project)
    desk = open_desk(alice, project, call)
    refused = desk.rule("deny", text="  ")
    assert refused.status == 422
    assert "This is high: say why" in refused.text
    Review.objects.filter(code=call["review"]["id"]).update(severity="critical")
    assert desk.rule("approve").status == 422
    assert desk.rule("approve", text="Checked").status == 200


def test_a_program_says_why_where_the_policy_asks(
    agent: httpx.Client, project: Project, reviewer: httpx.Client
) -> None:
    rule(reviewer, ask(agent, project)["review"]["id"], "deny")
    review = ask(agent, project, require_reasons=True)["review"]["id"]
    body = {"action": "deny", **get_seen(reviewer, review)}
    refused = reviewer.post(f"/reviews/{review}/ruling", json=body)
    assert problem(refused, "invalid")["errors"][0]["loc"] == ["note"]
    assert rule(reviewer, review, "deny", note="No")["state"] == "ruled"


def sign_in(desk: Desk, *, ago: timedelta) -> None:
    session = desk.client.session
    session[SIGNED_IN_AT] = (timezone.now() - ago).isoformat()
    session.save()


def test_an_old_sign_in_approves_nothing_that_asks_for_a_fresh_one(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    fresh = {"severity": ["high"], "within_s": 60}
    desk = open_desk(alice, project, ask(agent, project, fresh_sign_in=fresh))
    for ago in (None, timedelta(minutes=2)):
        if ago is not None:
            sign_in(desk, ago=ago)
        refused = desk.rule("approve")
        assert refused.status == 403
        assert "give your password once more" in refused.text
        assert "/sign-in/?again=1&amp;next=" in refused.html
    # Who is signed in is asked again, and led back.
    page = desk.client.get(f"/sign-in/?again=1&next={desk.path}")
    assert "current-password" in page.content.decode()
    answer = desk.client.post(
        f"/sign-in/?again=1&next={desk.path}",
        {
            "username": alice.user.username,
            "password": alice.password,
            "next": desk.path,
        },
    )
    assert answer.headers["Location"] == desk.path
    assert desk.rule("approve").status == 200


def test_denying_asks_for_no_fresh_sign_in(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    call = ask(agent, project, fresh_sign_in={"severity": ["high"]})
    assert open_desk(alice, project, call).rule("deny", text="No").status == 200
