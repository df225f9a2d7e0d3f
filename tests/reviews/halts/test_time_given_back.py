"""What a released halt moves: what was open in its scope, and nothing beside it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db.models import Model
from django.utils import timezone

from accounts.models import Project, Role
from ledger.models import Entry, Halt, ProjectHead, Run
from ledger.state import build_state
from ledger.writer import get_writer
from ledger.writer.halts import KnownHalt, build_known
from reviews.halts import deadlines
from reviews.halts.deadlines import TYPE, DeadlinesMoved, find_move, move_deadlines
from reviews.models import Grant, Review
from reviews.rulings import expiry
from reviews.services import submit_note
from reviews.teamwork.sweep import return_snoozed
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command
from tests.reviews.halts.halting import halt, release
from tests.reviews.halts.test_deadlines import age_halt, check_ledger, is_moved
from tests.reviews.teamwork.test_snoozing import snooze
from tests.support.builders import (
    Person,
    make_person,
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.people import rule

HOUR = timedelta(hours=1)


def list_values(*rows: Model) -> list[dict[str, Any]]:
    """Every column of these rows, as it is stored now."""
    return [type(row)._default_manager.filter(pk=row.pk).values().get() for row in rows]


def list_told(run: str) -> list[dict[str, Any]]:
    entries = Entry.objects.filter(run__code=run, type=TYPE).order_by("seq")
    return [json.loads(each) for each in entries.values_list("payload", flat=True)]


def get_review(code: str) -> Review:
    return Review.objects.get(code=code)


def get_known(made: dict[str, Any]) -> KnownHalt:
    return build_known(Halt.objects.select_related("by").get(code=made["id"]))


def get_grant(call: dict[str, Any]) -> Grant:
    return Grant.objects.get(call_id=call["id"])


def open_all(agent: httpx.Client, person: httpx.Client) -> dict[str, Any]:
    """A run with a review that waits and one that is over, a grant that may be used and
    one that was."""
    run = start_run(agent)
    used, free = command(agent, run, "ls 1"), command(agent, run, "ls 2")
    assert claim(agent, run, used).status_code == 200
    over = pause_at_once(agent, run)
    rule(person, over, "approve")
    waits = pause_at_once(agent, run, number=2)
    return {
        "run": Run.objects.get(code=run),
        "used": get_grant(used),
        "over": get_review(over),
        "free": get_grant(free),
        "waits": get_review(waits),
    }


def test_in_a_crowded_world_only_what_was_open_in_the_scope_is_moved(
    live: Live, project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    elsewhere = make_project()
    boss = make_person("boss", role=Role.MANAGER, project=elsewhere)
    with (
        client_for(live, make_robot("other", project=project)) as colleague,
        client_for(live, make_robot(project=elsewhere)) as neighbour,
        client_for(live, boss) as their_manager,
    ):
        theirs = open_all(neighbour, their_manager)
        beside = open_all(colleague, manager)
        held = open_all(agent, manager)
    made = halt(manager, {"agent": "robo"})
    kept = [*theirs.values(), *beside.values(), held["used"], held["over"]]
    before = list_values(*kept)
    release(manager, made)
    move_deadlines()

    assert list_values(*kept) == before
    waits, free = held["waits"], held["free"]
    (told,) = list_told(str(held["run"].code))
    assert [each["review"] for each in told["reviews"]] == [str(waits.code)]
    assert [each["grant"] for each in told["grants"]] == [str(free.code)]
    moved = get_review(str(waits.code))
    assert moved.due_at > waits.due_at
    assert moved.answer_by > waits.answer_by
    assert moved.due_at - waits.due_at == moved.answer_by - waits.answer_by
    assert Grant.objects.get(pk=free.pk).expires_at > free.expires_at
    check_ledger(str(held["run"].code))


def test_a_review_that_is_late_stays_late_and_ends_later(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    rows = Review.objects.filter(code=review)
    rows.update(answer_by=timezone.now() - HOUR)
    request = expiry.NoteLateReview(run_code=run, review_code=review)
    assert expiry._attempt(request) is True
    before = rows.get()
    assert before.late_at is not None
    release(manager, halt(manager))
    move_deadlines()
    after = rows.get()
    assert (after.answer_by, after.late_at) == (before.answer_by, before.late_at)
    assert after.due_at > before.due_at
    check_ledger(run)


def test_only_what_waits_for_something_new_in_the_run_keeps_waiting(
    live: Live,
    project: Project,
    agent: httpx.Client,
    manager: httpx.Client,
    alice: Person,
) -> None:
    """The entry that moves deadlines is nothing new; whatever came before it is."""

    def set_aside(client: httpx.Client) -> tuple[str, str, str]:
        run = start_run(client)
        first, second = (command(client, run, f"rm -rf {each}") for each in "ab")
        assert snooze(manager, second["review"]["id"], "run").status_code == 200
        return run, second["review"]["id"], first["review"]["id"]

    with client_for(live, make_robot("other", project=project)) as colleague:
        _, beside, _ = set_aside(colleague)
    run, quiet, shown = set_aside(agent)
    moved, news, _ = set_aside(agent)
    submit_note(run_code=moved, person=alice.principal, text="Look here")
    seq = get_review(beside).snoozed_seq
    assert get_review(quiet).snoozed_seq == get_review(news).snoozed_seq == seq
    release(manager, halt(manager, {"agent": "robo"}))
    move_deadlines()

    assert get_review(quiet).snoozed_seq == Run.objects.get(code=run).head_seq
    assert get_review(shown).snoozed_seq is None
    assert [get_review(each).snoozed_seq for each in (news, beside)] == [seq, seq]
    return_snoozed()
    back = [get_review(each).snoozed_for == "" for each in (quiet, news, beside)]
    assert back == [False, True, False]
    for each in (run, moved):
        check_ledger(each)


def test_halts_that_never_held_the_run_take_nothing_of_its_time(
    live: Live, project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    """One of another run, agent, label, parent and project; and one that was over."""
    elsewhere = make_project()
    boss = make_person("boss", role=Role.MANAGER, project=elsewhere)
    make_robot("other", project=project)
    early = release(manager, halt(manager))
    run = start_run(agent, labels={"team": "shop"})
    review = pause_at_once(agent, run)
    Review.objects.filter(code=review).update(opened_at=timezone.now() - 9 * HOUR)
    due_at = get_review(review).due_at
    early_row = Halt.objects.get(code=early["id"])
    assert early_row.released_at is not None
    Halt.objects.filter(pk=early_row.pk).update(
        at=early_row.at - 9 * HOUR, released_at=early_row.released_at - 3 * HOUR
    )
    scopes = (
        {"agent": "other"},
        {"label": "team:bank"},
        {"run": start_run(agent)},
        {"run": start_run(agent), "children": True},
    )
    own = halt(manager, {"run": run})
    others = [halt(manager, scope) for scope in scopes]
    with client_for(live, boss) as their_manager:
        theirs = halt(their_manager)
        for made in (own, theirs, *others):
            age_halt(made, 2 * HOUR)
        release(their_manager, theirs)
    for made in (*others, own):
        release(manager, made)
    move_deadlines()
    given = get_review(review).due_at - due_at
    assert 2 * HOUR <= given < 2 * HOUR + timedelta(minutes=10)


@pytest.mark.parametrize("first", [True, False])
def test_of_two_that_were_released_at_once_each_moment_counts_once(
    agent: httpx.Client, manager: httpx.Client, first: bool
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    Review.objects.filter(code=review).update(opened_at=timezone.now() - 9 * HOUR)
    due_at = get_review(review).due_at
    scopes: list[dict[str, Any]] = [{"project": True}, {"run": run}]
    made = [halt(manager, scope) for scope in (scopes if first else scopes[::-1])]
    for each, hours in zip(made, (2, 1), strict=True):
        age_halt(each, hours * HOUR)
        release(manager, each)
    rows = Halt.objects.filter(code__in=[each["id"] for each in made])
    rows.update(released_at=rows.get(code=made[1]["id"]).released_at)
    move_deadlines()
    given = get_review(review).due_at - due_at
    assert 2 * HOUR <= given < 2 * HOUR + timedelta(minutes=10)
    assert len(list_told(run)) == 2


def test_nothing_is_to_be_done_for_a_run_that_lost_no_time(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    """Asked of each run directly: no query has left it out before."""
    ended, observed, open_run, moved = (start_run(agent) for _ in range(4))
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    rows = Run.objects.filter(code=observed)
    memory = rows.get().memory
    rows.update(memory=memory[:-1] + ',"observed":true}')
    make_policy("default", project=project, checks={"max_resets": 1})
    made = halt(manager)
    release(manager, made)
    known, late = get_known(made), start_run(agent)

    def find(code: str) -> deadlines.MoveDeadlines | None:
        return find_move(build_state(Run.objects.get(code=code)), known)

    found = find(moved)
    assert found is not None
    get_writer().perform_now(found)
    chain = str(Run.objects.get(project=project, intent="system-policies").code)
    for run in (ended, observed, late, moved, chain):
        assert find(run) is None, run
    assert find(open_run) is not None
    with pytest.raises(DeadlinesMoved):
        get_writer().perform_now(found)
    move_deadlines()
    told = [len(list_told(run)) for run in (ended, observed, late, chain)]
    assert told == [0, 0, 0, 0]
    assert [len(list_told(run)) for run in (open_run, moved)] == [1, 1]
    rows.update(memory=memory)


def test_a_run_of_the_server_gets_its_time_back_where_something_of_it_waits(
    manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, four_eyes={"policy": True})
    body = {"document": {"checks": {"max_resets": 1}}, "activate": True}
    answer = manager.post("/policies/default/versions", json=body)
    review = get_review(answer.json()["review"])
    release(manager, halt(manager))
    move_deadlines()
    assert get_review(str(review.code)).due_at > review.due_at
    chain = Run.objects.get(project=project, intent="system-policies")
    assert is_moved(str(chain.code))
    check_ledger(str(chain.code))


def test_a_halt_is_settled_once_and_only_when_every_run_has_its_time(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    standing = halt(manager, {"label": "team:shop"})
    made = halt(manager)
    release(manager, made)
    rows = Halt.objects.filter(code=made["id"])
    heads = ProjectHead.objects.filter(pk=project.pk)

    def look() -> tuple[Any, int]:
        return rows.get().deadlines_moved_at, heads.get().halts_version

    before = look()
    deadlines._settle(rows.get())  # a run came up since its runs were listed
    assert look() == before
    assert before[0] is None
    move_deadlines()
    settled = look()
    assert settled[0] is not None
    assert settled[1] == before[1] + 1
    deadlines._settle(rows.get())
    move_deadlines()
    assert look() == settled
    assert Halt.objects.get(code=standing["id"]).deadlines_moved_at is None
    assert len(list_told(run)) == 1
