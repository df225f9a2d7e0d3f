"""A reviewer sees whether an agent still waits for the ruling."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Project
from reviews.models import AgentWait, Review
from reviews.queue import agent_waits
from tests.conftest import client_for
from tests.support.browsing import fragment, open_browser
from tests.support.builders import Person, Robot
from tests.support.people import rule
from tests.support.processes import another_web_process
from tests.support.waiting import park, until

QUESTION = {"kind": "question", "title": "Which branch?"}


@pytest.fixture
def asked(agent: httpx.Client) -> Review:
    """A question that was opened a minute ago, and that nobody waited for."""
    run = agent.post("/runs", json={"task": "Mend the login"}).json()["id"]
    made = agent.post(f"/runs/{run}/reviews", json=QUESTION).json()
    return open_earlier(made["id"], timedelta(minutes=1))


def open_earlier(code: str, age: timedelta) -> Review:
    Review.objects.filter(code=code).update(opened_at=timezone.now() - age)
    return Review.objects.select_related("run", "project").get(code=code)


def waiting(reviewer: httpx.Client, review: Review) -> Any:
    return reviewer.get(f"/reviews/{review.code}").json()["waiting"]


def test_nobody_has_waited_yet(reviewer: httpx.Client, asked: Review) -> None:
    assert waiting(reviewer, asked) == {"now": False, "last_at": None}
    # The agent is on its way: nothing is known, and nothing is said.
    open_earlier(str(asked.code), timedelta(seconds=1))
    assert waiting(reviewer, asked) is None


def test_an_agent_is_waiting_until_it_hangs_up(
    agent: httpx.Client,
    reviewer: httpx.Client,
    asked: Review,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = park(agent, str(asked.run.code), f"&review={asked.code}")
    until(lambda: AgentWait.objects.filter(review=asked).exists())
    assert waiting(reviewer, asked)["now"] is True
    (listed,) = reviewer.get(f"/reviews?run={asked.run.code}").json()["items"]
    assert listed["waiting"]["now"] is True

    rule(reviewer, str(asked.code), "answer", answer="main")
    assert answer.result(timeout=60).json()["state"] == "ruled"
    assert waiting(reviewer, asked) is None, "it is closed"


def test_the_last_time_is_kept(
    agent: httpx.Client, reviewer: httpx.Client, asked: Review
) -> None:
    agent.get(f"/runs/{asked.run.code}/decision?wait=1&review={asked.code}")
    until(lambda: AgentWait.objects.filter(review=asked).exists())
    seen = timezone.now() - timedelta(minutes=4)
    until(lambda: bool(AgentWait.objects.filter(review=asked).update(seen_at=seen)))
    told = waiting(reviewer, asked)
    assert told["now"] is False
    assert told["last_at"].startswith(seen.strftime("%Y-%m-%dT%H:%M"))


def test_a_look_without_waiting_is_no_waiting(
    agent: httpx.Client, reviewer: httpx.Client, asked: Review
) -> None:
    agent.get(f"/runs/{asked.run.code}/decision?review={asked.code}")
    reviewer.get(f"/runs/{asked.run.code}/decision?wait=1&review={asked.code}")
    assert not AgentWait.objects.filter(review=asked).exists()


def test_many_who_wait_are_stored_by_one_statement(
    agent: httpx.Client, asked: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many agents wait, a process writes once in a while, and not for each."""
    stored: list[int] = []
    store = agent_waits.store_waits

    def counted(seen: Any) -> None:
        stored.append(len(seen))
        store(seen)

    monkeypatch.setattr("gateway.use_cases.agent_waits.store_waits", counted)
    monkeypatch.setattr("gateway.use_cases.agent_waits.STORE_SECONDS", 0.5)
    runs = [agent.post("/runs", json={"task": "Ask"}).json()["id"] for _ in range(4)]
    parked = []
    for run in runs:
        code = agent.post(f"/runs/{run}/reviews", json=QUESTION).json()["id"]
        parked.append(park(agent, run, f"&review={code}"))
    until(lambda: 4 in stored)
    for run in runs:
        agent.post(f"/reviews/{Review.objects.get(run__code=run).code}/withdraw")
    assert {each.result(timeout=60).json()["state"] for each in parked} == {"withdrawn"}


def test_an_agent_that_waits_at_another_process_is_seen(
    robo: Robot, reviewer: httpx.Client, asked: Review
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("Web processes of their own need PostgreSQL.")
    path = f"/runs/{asked.run.code}/decision?wait=50&review={asked.code}"
    with (
        another_web_process() as other,
        client_for(other.live, robo) as elsewhere,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        elsewhere.timeout = 60
        answer = pool.submit(elsewhere.get, path)
        until(lambda: waiting(reviewer, asked)["now"] is True, seconds=60)
        rule(reviewer, str(asked.code), "answer", answer="main")
        assert answer.result(timeout=60).json()["state"] == "ruled"


def test_the_page_says_so_and_keeps_saying_it(
    project: Project, bob: Person, asked: Review
) -> None:
    browser = open_browser(bob.user)
    page = f"/p/{project.slug}/queue/{asked.code}/"

    def shown() -> str:
        whole = browser.get(page).content.decode()
        part = fragment(browser, f"{page}agent/").content.decode()
        # A second may have passed in between.
        part, seen = (re.sub(r"( \d+ s)? ago", " ago", each) for each in (part, whole))
        assert part.strip() in seen
        return whole

    assert "Has not waited yet" in shown()
    AgentWait.objects.create(review=asked, seen_at=timezone.now())
    assert "Is waiting" in shown()
    long_ago = timezone.now() - timedelta(minutes=4)
    AgentWait.objects.filter(review=asked).update(seen_at=long_ago)
    assert "Left 4 m" in shown()
