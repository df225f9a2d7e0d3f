"""What needs somebody now: from the state of this moment, the worst first."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.overview.links import Links
from console.overview.needs.ledger import find_ledger_state
from console.overview.needs.limits import UsedLimit, find_near_limits
from console.overview.needs.need import Need, name_some, sort_needs
from console.overview.needs.reviews import find_late_reviews
from console.overview.needs.runs import find_failing, find_silent, find_stopped
from console.overview.needs.webhooks import find_broken_webhooks
from ledger.models import ProjectVerification
from reviews.models import Review
from tests.console.overview.conftest import Read, list_needs
from tests.reviews.halts.halting import halt
from tests.support.builders import (
    Person,
    make_policy,
    pause_at_once,
    start_run,
    step,
)
from webhooks.models import WebhookEndpoint
from webhooks.services import DISABLED_BY_HAND

LINKS = Links(slug="shop", manages=True)


def stop_run(agent: httpx.Client) -> str:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    return run


def fail_run(agent: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "failed"})


def test_nothing_needs_anybody(agent: httpx.Client, bob: Person, read: Read) -> None:
    start_run(agent)
    page = read(bob)
    assert "Nothing needs you." in page
    assert not [each for each in list_needs(page) if "stopped" in each]


def test_stopped_runs_are_counted_and_open_their_list(
    agent: httpx.Client, bob: Person, read: Read, project: Project
) -> None:
    for _ in range(2):
        stop_run(agent)
    page = read(bob)
    assert "2 runs stopped robo" in list_needs(page)
    assert "Nothing needs you." not in page
    (need,) = find_stopped(project_id=project.pk, links=Links(slug=project.slug))
    assert need.href.startswith(f"/p/{project.slug}/runs/?")
    assert need.href.replace("&amp;", "&") in page.replace("&amp;", "&")


def test_an_agent_that_keeps_failing(agent: httpx.Client, project: Project) -> None:
    def find() -> list[Need]:
        return list(find_failing(project_id=project.pk, links=LINKS))

    for _ in range(2):
        fail_run(agent)
    assert find() == []
    fail_run(agent)
    (need,) = find()
    assert (need.title, need.about) == (
        "robo keeps failing",
        "3 of its last 3 runs failed",
    )
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert find() == [], "the newest one went well"


def test_runs_that_say_nothing_any_more(agent: httpx.Client, project: Project) -> None:
    start_run(agent)
    later = timezone.now() + timedelta(minutes=45)
    (need,) = find_silent(project_id=project.pk, at=later, links=LINKS)
    assert need.title == "1 run silent"
    assert need.about.startswith("robo, up to 45 m")
    assert not list(find_silent(project_id=project.pk, at=timezone.now(), links=LINKS))


def test_a_paused_run_is_not_silent(agent: httpx.Client, project: Project) -> None:
    pause_at_once(agent, start_run(agent))
    later = timezone.now() + timedelta(hours=2)
    assert not list(find_silent(project_id=project.pk, at=later, links=LINKS))


def test_a_halted_run_is_not_silent(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    start_run(agent)
    halt(reviewer, {"agent": "robo"})
    later = timezone.now() + timedelta(hours=2)
    assert not list(find_silent(project_id=project.pk, at=later, links=LINKS))


def test_reviews_that_are_late_or_soon_will_be(
    agent: httpx.Client, project: Project
) -> None:
    pause_at_once(agent, start_run(agent))
    due = Review.objects.get(project=project).answer_by

    def find(at_minutes: float) -> list[tuple[str, str]]:
        at = due + timedelta(minutes=at_minutes)
        found = find_late_reviews(project_id=project.pk, at=at, links=LINKS)
        return [(each.tone, each.title) for each in found]

    assert find(-30) == []
    assert find(-10) == [("pause", "1 review due soon")]
    assert find(1) == [("stop", "1 review past due")]


def test_a_limit_that_is_used_up_comes_before_what_only_waits(
    agent: httpx.Client, project: Project, bob: Person, read: Read
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"cost_usd": "4"}})
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, cost_usd="3.85"))
    assert list_needs(read(bob))[0].startswith("robo near its limit $3.85 of $4 today")
    agent.post(f"/runs/{run}/steps", json=step(2, cost_usd="0.40"))
    assert list_needs(read(bob))[:2] == [
        "robo over its limit $4.25 of $4 today "
        "Raise … robo over its limit Halt … robo over its limit",
        "1 run stopped robo",
    ]


def use(agent: str, used: int = 120, scope: str = "agent_day") -> UsedLimit:
    return UsedLimit(agent=agent, scope=scope, part="tokens", used=used, limit=100)


def test_each_at_a_limit_has_an_item_until_there_are_many() -> None:
    near = [use("robo"), use("robo", 130), use("b", 95), use("far", 89)]
    found = list(find_near_limits([*near, use("", 110, "project_month")], links=LINKS))
    assert [(each.tone, each.title, each.about) for each in found] == [
        ("stop", "robo over its limit", "130 of 100 tokens today"),
        ("stop", "Project over its limit", "110 of 100 tokens this month"),
        ("pause", "b near its limit", "95 of 100 tokens today"),
    ]
    many = [use(f"agent-{number}", 150 - number) for number in range(5)]
    *shown, others = find_near_limits(many, links=LINKS)
    assert len(shown) == 3
    assert (others.title, others.about) == ("2 more at a limit", "agent-3, agent-4")
    assert (others.href, others.acts) == ("/p/shop/limits/", ())
    (*_, soon) = find_near_limits([*many[:3], use("c", 91), use("d", 90)], links=LINKS)
    assert (soon.tone, soon.title) == ("pause", "2 more near a limit")


def test_what_is_at_a_limit_is_raised_or_halted_where_it_stands() -> None:
    (agent, project) = find_near_limits(
        [use("robo"), use("", 110, "project_month")], links=LINKS
    )
    assert [(each.words, each.href, each.role) for each in agent.acts] == [
        ("Raise", "/p/shop/limits/raise/?scope=agent_day&agent=robo", "managers"),
        ("Halt", "/p/shop/limits/halt/?scope=agent_day&agent=robo", "reviewers"),
    ]
    assert [each.href for each in project.acts] == [
        "/p/shop/limits/raise/?scope=project_month",
        "/p/shop/limits/halt/?scope=project_month",
    ]


def test_an_amount_never_looks_like_a_limit_that_it_has_not_reached() -> None:
    def describe(used: int) -> str:
        each = UsedLimit(
            agent="",
            scope="project_day",
            part="cost_micros",
            used=used,
            limit=4_000_000,
        )
        return f"{each.used_text} of {each.limit_text}"

    assert describe(3_999_999) == "$3.999999 of $4"
    assert describe(3_725_038) == "$3.73 of $4"
    assert describe(4_000_000) == "$4.00 of $4"


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"failing_since": timezone.now()}, "Webhook failing"),
        ({"status": "disabled", "status_reason": "It is gone."}, "Webhook disabled"),
        ({"status": "disabled", "status_reason": DISABLED_BY_HAND.format("al")}, None),
        ({}, None),
    ],
)
def test_webhooks_that_nobody_takes(
    project: Project, alice: Person, change: dict[str, object], title: str | None
) -> None:
    at = timezone.now()
    WebhookEndpoint.objects.create(
        project=project,
        url="https://deploy-bot.example/hook",
        types=["*"],
        status_at=at,
        salt="s",
        secret_digest="d",
        cursor=0,
        created_by=alice.user,
        created_at=at,
        **change,
    )
    found = list(find_broken_webhooks(project_id=project.pk, at=at, links=LINKS))
    assert [each.title for each in found] == ([title] if title else [])
    hidden = Links(slug="shop", manages=False)
    assert not list(find_broken_webhooks(project_id=project.pk, at=at, links=hidden))


def test_the_worst_comes_first() -> None:
    needs = [
        Need(tone=tone, icon="x", title=f"{tone}{harm}", about="", href="", harm=harm)
        for tone, harm in (("go", 0), ("pause", 1), ("stop", 5), ("stop", 2))
    ]
    found = [each.title for each in sort_needs(needs)]
    assert found == ["stop2", "stop5", "pause1", "go0"]


def test_names_are_shown_as_they_are_and_some_of_them() -> None:
    assert name_some(["a"]) == "a"
    assert name_some(["a", "b", "c", "d"]) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("result", "days", "tone", "title"),
    [
        ({"entries": 1_284}, 0, "go", "Ledger verified"),
        ({"entries": 1_284}, 3, "pause", "Ledger not checked lately"),
        ({"entries": 9, "broken": 1}, 0, "stop", "Ledger is not whole"),
        ({"entries": 9, "missing": ["x"]}, 0, "stop", "Ledger is not whole"),
    ],
)
def test_whether_the_ledger_is_whole(
    project: Project, result: dict[str, object], days: int, tone: str, title: str
) -> None:
    at = timezone.now()

    def find() -> list[tuple[str, str]]:
        found = find_ledger_state(project_id=project.pk, at=at, links=LINKS)
        return [(each.tone, each.title) for each in found]

    assert find() == [], "nothing is known before the first check"
    ProjectVerification.objects.create(
        project=project,
        state="finished",
        result=json.dumps(result),
        ended_at=at - timedelta(days=days),
    )
    assert find() == [(tone, title)]
