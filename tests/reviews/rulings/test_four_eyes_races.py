"""Several people approve at once, on every path: never one approval too few."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from checkrail import people

from accounts.models import Agent, Project
from ledger.models import Entry
from reviews.models import Review
from tests.reviews.rulings.approving import PATHS, Approver
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.examples import ALL
from tests.support.live import Live
from tests.support.threads import at_once

RACES = 200 if ALL else 4
pytestmark = pytest.mark.timeout(3_600 if ALL else 300)


@pytest.fixture
def policy(project: Project) -> str:
    asks = {"approvals": 2, "rules": ["uncertainty"]}
    make_policy("careful", project=project, four_eyes=asks)
    return "careful"


@pytest.fixture
def approvers(
    live: Live,
    project: Project,
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
    alice: Person,
    bob: Person,
    cleo: Person,
) -> Iterator[dict[Person, Approver]]:
    """alice, bob, and cleo, who owns the agent."""
    owned = Agent.objects.filter(project=project, name="robo")
    assert owned.update(owner=cleo.user) == 1
    programs = {alice: manager, bob: reviewer, cleo: admin}
    made = {
        person: Approver(
            project=project,
            program=program,
            browser=open_browser(person.user),
            desk=people.Desk(live.url, person.token),
        )
        for person, program in programs.items()
    }
    yield made
    for each in made.values():
        each.desk.close()


@pytest.mark.parametrize("path", PATHS)
def test_of_all_who_approve_at_once_never_one_too_few(
    agent: httpx.Client,
    policy: str,
    approvers: dict[Person, Approver],
    alice: Person,
    bob: Person,
    cleo: Person,
    path: str,
) -> None:
    """The owner, and two others of whom each sends it twice: one round, one approval; the
    review that was read before another's approval is read again."""
    for _ in range(RACES):
        review = pause_at_once(agent, start_run(agent, policy=policy))
        senders = [each.read(review, path) for each in approvers.values()]

        taken = at_once(*senders, *senders)

        # All have read the first version: one approval was taken, and it is no ruling.
        assert taken.count(True) == 1, taken
        row = Review.objects.get(code=review)
        assert (row.state, row.approvals_given) == ("open", 1)
        first = row.approvals.get().by
        assert first in {alice.user, bob.user}
        again = alice if first == alice.user else bob
        other = bob if first == alice.user else alice
        late = [approvers[each].read(review, path) for each in (again, cleo)]
        assert at_once(*late) == [False, False]
        assert approvers[other].read(review, path)()
        ruled = Entry.objects.get(type="review.ruled", run=row.run_id)
        people_named = json.loads(ruled.payload)["approved_by"]
        assert people_named == [f"user:{each.code}" for each in (first, other.user)]
