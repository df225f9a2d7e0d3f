"""Several agents, projects and reviews side by side: each is told its own alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project, Role
from common.errors import PreconditionRequired, RateLimited
from common.ids import uuid7
from ledger.models import Entry, Run
from reviews.caps import find_review_room, refuse_runs_at_cap
from reviews.models import AgentWait, Permission, Review
from reviews.queue.agent_waits import store_waits
from reviews.rulings.decision_query import get_decision_state, is_key_valid
from reviews.rulings.reading_proof import (
    count_pages,
    count_served_pages,
    refuse_unread,
    store_served_page,
)
from reviews.rulings.take_overs import list_take_overs
from tests.conftest import client_for
from tests.gateway.calls.calls import command, rule
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.people import rule as rule_on


@pytest.fixture
def second(live: Live, project: Project) -> Iterator[tuple[Robot, httpx.Client]]:
    """Another agent of the same project."""
    robot = make_robot("second", project=project)
    with client_for(live, robot) as client:
        yield robot, client


@pytest.fixture
def outsider(live: Live) -> Iterator[tuple[Robot, httpx.Client]]:
    """An agent of another project."""
    robot = make_robot("outsider", project=make_project())
    with client_for(live, robot) as client:
        yield robot, client


def test_a_cap_counts_the_agents_own_and_the_projects_own(
    agent: httpx.Client,
    reviewer: httpx.Client,
    robo: Robot,
    project: Project,
    second: tuple[Robot, httpx.Client],
    outsider: tuple[Robot, httpx.Client],
) -> None:
    caps = {"open_reviews": {"agent": 2, "project": 3}, "open_runs": {"agent": 2}}
    caps["open_runs"]["project"] = 5
    make_policy("default", project=project, caps=caps)
    me = {"project_id": project.pk, "agent_id": robo.principal.agent_id}

    def is_full() -> bool:
        return find_review_room(**me).critical is not None

    for _ in range(3):
        pause_at_once(outsider[1], start_run(outsider[1]))
    mine = [pause_at_once(agent, start_run(agent))]
    pause_at_once(second[1], start_run(second[1]))
    assert not is_full()
    mine.append(pause_at_once(agent, start_run(agent)))
    assert is_full()
    # An answered one counts no more.
    rule_on(reviewer, mine[0], "abort")
    assert not is_full()

    # By now the project is full, whoever of its agents asks.
    pause_at_once(second[1], start_run(second[1]))
    assert is_full()


def test_a_cap_on_runs_counts_what_is_open_here(
    agent: httpx.Client,
    robo: Robot,
    project: Project,
    second: tuple[Robot, httpx.Client],
    outsider: tuple[Robot, httpx.Client],
) -> None:
    caps = {"open_runs": {"agent": 2, "project": 3}}
    make_policy("default", project=project, caps=caps)
    me = {"project_id": project.pk, "agent_id": robo.principal.agent_id}
    for _ in range(3):
        start_run(outsider[1])
    ended = start_run(agent)
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    run = start_run(agent)
    start_run(second[1])
    refuse_runs_at_cap(**me)

    pause_at_once(agent, start_run(agent))
    with pytest.raises(RateLimited, match="Finish some of them") as refused:
        refuse_runs_at_cap(**me)
    assert refused.value.headers == {"Retry-After": "30"}

    # The project's own cap, with one run of this agent fewer.
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    refuse_runs_at_cap(**me)
    start_run(second[1])
    with pytest.raises(RateLimited):
        refuse_runs_at_cap(**me)


def test_of_several_permissions_the_exact_one_is_used_and_the_one_that_lasts(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    first, run = start_run(agent), start_run(agent)
    text = "rm -rf build-1"
    call = command(agent, first, text)
    rule(reviewer, call, "approve", remember={"scope": "exact"})
    (exact,) = Permission.objects.filter(run__code=first)
    copies = {}
    others: dict[str, dict[str, Any]] = {
        "longer": {"expires_at": exact.expires_at + timedelta(hours=1)},
        "revoked": {
            "expires_at": exact.expires_at + timedelta(hours=2),
            "revoked_at": timezone.now(),
        },
        "used up": {
            "expires_at": exact.expires_at + timedelta(hours=3),
            "uses_left": 0,
        },
        "over": {"expires_at": timezone.now()},
        "other rules": {
            "expires_at": exact.expires_at + timedelta(hours=4),
            "rules": "[]",
        },
    }
    for name, more in others.items():
        row = Permission.objects.get(pk=exact.pk)
        row.pk, row.code = None, uuid7()
        for column, value in more.items():
            setattr(row, column, value)
        row.save(force_insert=True)
        copies[name] = row

    allowed = command(agent, run, text)

    assert allowed["decision"] == "allow"
    (used,) = Permission.objects.filter(project_id=exact.project_id, used=1)
    assert used.pk == copies["longer"].pk
    assert used.uses_left == exact.uses_left - 1
    assert used.last_used_at is not None


def test_an_agent_is_told_of_the_review_it_asks_about(
    agent: httpx.Client, reviewer: httpx.Client, robo: Robot
) -> None:
    codes = [start_run(agent) for _ in range(2)]
    reviews = [pause_at_once(agent, code) for code in codes]
    ids = [Run.objects.get(code=code).pk for code in codes]
    rule_on(reviewer, reviews[0], "approve")
    newest = pause_at_once(agent, codes[0], number=2)
    key_id = robo.principal.key_id

    def ask(run_id: int, review: str | None) -> tuple[str | None, str] | None:
        found = get_decision_state(run_id, review, key_id=key_id)
        assert found == get_decision_state(run_id, review)
        if found is None:
            return None
        told = found.answer
        return (told["review"]["id"] if told["review"] else None), told["state"]

    assert ask(ids[0], None) == (newest, "open")
    assert ask(ids[0], reviews[0]) == (reviews[0], "ruled")
    assert ask(ids[1], None) == (reviews[1], "open")
    # Another run's review, none at all, and no code.
    for other in (reviews[1], str(uuid7()), "no code"):
        assert ask(ids[0], other) is None
    assert ask(Run.objects.get(code=start_run(agent)).pk, None) == (None, "none")
    assert is_key_valid(key_id)
    assert not is_key_valid(0)
    assert get_decision_state(ids[0], None, key_id=0) is None


def test_a_comment_that_names_another_review_is_no_part_of_its_history(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first, second = (
        command(agent, run, f"rm -rf {name}")["review"]["id"] for name in ("a", "b")
    )
    said = {"text": f"The same as {second}, see there"}
    reviewer.post(f"/reviews/{first}/comments", json=said)
    reviewer.post(f"/reviews/{second}/claim")

    def history(review: str) -> list[str]:
        shown = reviewer.get(f"/reviews/{review}").json()["history"]
        return [each["type"] for each in shown]

    assert history(first) == ["review.opened", "review.commented"]
    assert history(second) == ["review.opened", "review.claimed"]


def test_take_overs_are_told_in_their_project_between_two_positions(
    live: Live, agent: httpx.Client, project: Project, bob: Person
) -> None:
    def take_over(client: httpx.Client, where: Project, owner: Person) -> str:
        review = pause_at_once(client, start_run(client))
        other = make_person("zoe", role=Role.REVIEWER, project=where)
        for person in (owner, other):
            with client_for(live, person) as each:
                assert each.post(f"/reviews/{review}/claim").status_code == 200
        return review

    elsewhere = make_project()
    theirs = make_person("eve", role=Role.REVIEWER, project=elsewhere)
    with client_for(live, make_robot(project=elsewhere)) as client:
        take_over(client, elsewhere, theirs)
    reviews = [take_over(agent, project, bob) for _ in range(2)]
    positions = list(
        Entry.objects.filter(
            project=project, type="review.claimed", payload__contains="taken_from"
        )
        .order_by("position")
        .values_list("position", flat=True)
    )

    def tell(since: int, until: int) -> list[str]:
        told = list_take_overs(project_id=project.pk, since=since, until=until)
        assert {each.claimer for each in told} <= {str(bob.user.code)}
        return [each.review for each in told]

    first, last = positions
    assert tell(0, last) == reviews
    assert tell(first - 1, first) == reviews[:1]
    assert tell(first, last) == reviews[1:]
    assert tell(first, last - 1) == []
    assert tell(last, last + 100) == []


def test_pages_are_counted_by_review_and_reader(
    agent: httpx.Client, alice: Person, bob: Person
) -> None:
    run = start_run(agent)
    text = "rm -rf build" + " x\n" * 2_000
    reviews = [
        Review.objects.get(code=command(agent, run, f"{text}{n}")["review"]["id"])
        for n in (1, 2)
    ]
    pages = count_pages(reviews[0])
    assert pages > 2
    readers = (alice.user.pk, bob.user.pk)
    for page in range(1, pages + 1):
        store_served_page(reviews[0], user_id=readers[0], page=page)
    store_served_page(reviews[0], user_id=readers[1], page=1)
    store_served_page(reviews[0], user_id=readers[1], page=2)

    served = [
        count_served_pages(review, user_id=reader)
        for review in reviews
        for reader in readers
    ]
    assert served == [pages, 2, 1, 1]
    refuse_unread(reviews[0], user_id=readers[0])
    for review, reader in ((reviews[0], readers[1]), (reviews[1], readers[0])):
        with pytest.raises(PreconditionRequired, match=f"Read all {pages} pages"):
            refuse_unread(review, user_id=reader)
    # Neither a page back nor one too far changes that.
    store_served_page(reviews[0], user_id=readers[0], page=1)
    assert count_served_pages(reviews[0], user_id=readers[0]) == pages
    for wrong in (0, pages + 1):
        with pytest.raises(PreconditionRequired, match="no such page"):
            store_served_page(reviews[0], user_id=readers[0], page=wrong)
    with pytest.raises(PreconditionRequired, match="Page 3 comes first"):
        store_served_page(reviews[0], user_id=readers[1], page=4)


def test_who_waits_for_what_is_closed_is_not_noted(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    closed, waiting, beside = (pause_at_once(agent, start_run(agent)) for _ in range(3))
    rule_on(reviewer, closed, "approve")
    now = timezone.now()
    times = {closed: now, waiting: now - timedelta(seconds=5)}

    for later in (timedelta(0), timedelta(seconds=9)):
        seen = {UUID(code): at + later for code, at in times.items()}
        store_waits(seen)
        noted = AgentWait.objects.filter(review__code__in=[closed, waiting, beside])
        (row,) = noted.select_related("review")
        assert (str(row.review.code), row.seen_at) == (waiting, seen[UUID(waiting)])
