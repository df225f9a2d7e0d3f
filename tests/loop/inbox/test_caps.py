"""Notes and recommendations of the loop: so many open for each sender and project."""

from __future__ import annotations

from collections import Counter

import httpx
import pytest

from accounts.models import Project
from loop.models import Note, Recommendation
from tests.conftest import client_for
from tests.support.builders import Robot, make_policy, make_robot
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.threads import at_once

CAP = 3
BODIES = {
    "notes": {"text": "The cache is cold"},
    "recommendations": {
        "title": "Ask less",
        "detail": "",
        "change": {"set": {"continue": {"max_rework_ratio": 0.4}}},
    },
}


@pytest.fixture
def capped(project: Project) -> None:
    caps = {what: {"agent": CAP, "project": CAP + 1} for what in BODIES}
    make_policy("default", project=project, caps=caps)


def send(client: httpx.Client, what: str) -> httpx.Response:
    return client.post(f"/loop/{what}", json=BODIES[what])


@pytest.mark.parametrize("what", BODIES)
def test_more_than_the_cap_is_refused_in_words(
    live: Live, agent: httpx.Client, project: Project, capped: None, what: str
) -> None:
    assert [send(agent, what).status_code for _ in range(CAP)] == [201] * CAP

    answer = send(agent, what)

    refusal = problem(answer, "rate-limited")
    assert f"has {CAP} open {what}" in refusal["detail"]
    assert int(answer.headers["retry-after"]) > 1
    with client_for(live, make_robot("rita", project=project)) as other:
        assert send(other, what).status_code == 201
        refused = problem(send(other, what), "rate-limited")
    assert f"This project has {CAP + 1}" in refused["detail"]


def test_what_is_closed_makes_room(
    agent: httpx.Client, manager: httpx.Client, project: Project, capped: None
) -> None:
    for what in BODIES:
        for _ in range(CAP):
            send(agent, what)
    Note.objects.filter(project=project).update(state="done")
    first = Recommendation.objects.filter(project=project).earliest("pk")
    ended = manager.post(f"/loop/recommendations/{first.code}/dismiss", json={})
    assert ended.status_code == 200, ended.text

    assert {what: send(agent, what).status_code for what in BODIES} == {
        "notes": 201,
        "recommendations": 201,
    }


@pytest.mark.parametrize("what", BODIES)
def test_the_cap_is_exact_under_many_writers(
    live: Live, robo: Robot, agent: httpx.Client, capped: None, what: str
) -> None:
    agent.get("/loop/decisions")

    def one() -> int:
        with client_for(live, robo) as client:
            return send(client, what).status_code

    assert Counter(at_once(*[one] * (3 * CAP))) == {201: CAP, 429: 2 * CAP}
