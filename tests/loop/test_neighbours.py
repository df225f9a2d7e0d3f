"""What the loop of a project does changes nothing of any other project."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Role
from common.errors import DomainError
from loop.control.clock import send_heartbeat, wake_loop
from loop.control.subscribers import loop_event, notify_subscribers
from loop.control.switch import set_paused
from loop.cycle.sense import sense
from loop.inbox.incidents import resolve_incident
from loop.inbox.notes import return_unconfirmed_notes
from loop.inbox.recommendations import end_recommendation
from loop.inbox.triggers import accept_signal
from loop.models import (
    Decision,
    Incident,
    Note,
    Recommendation,
    Signal,
)
from loop.selectors import HOUR, count_used_this_hour, sum_spent_today
from tests.loop.places import Place
from tests.loop.saying import FAILED, loop_policy
from tests.support.builders import (
    make_person,
    make_policy,
    make_robot,
)

NOTES = {"name": "n", "when": {}, "do": "process_notes", "reason": "so"}
ALERT = {
    "name": "alert",
    "when": {"trigger": [FAILED]},
    "do": "emit_alert",
    "parameters": {
        "condition": "{data.condition}",
        "status": "{data.status}",
        "title": "{data.title}",
    },
    "reason": "so",
}


def test_what_was_done_elsewhere_or_an_hour_ago_uses_up_nothing(
    here: Place, there: Place
) -> None:
    for place in (here, there):
        loop_policy(place.project, caps_per_hour={"start_loop": 1})
    assert there.decide(about="a").outcome == "emitted"
    first = here.decide(about="b")
    assert first.outcome == "emitted"
    assert here.decide(about="c").outcome == "rate_limited"
    at = timezone.now()
    rows = Decision.objects.filter(pk=first.pk)
    for age, used in ((HOUR, 0), (HOUR - timedelta(seconds=1), 1)):
        rows.update(counted_at=at - age)
        assert count_used_this_hour(here.project.pk, at=at)["start_loop"] == used
    Decision.objects.filter(project=there.project).update(cost_micros=7)
    rows.update(cost_micros=5)
    assert sum_spent_today(here.project.pk, at=at) == 5
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    for decided, spent in (
        (midnight, 5),
        (midnight - timedelta(microseconds=1), 0),
    ):
        rows.update(decided_at=decided)
        assert sum_spent_today(here.project.pk, at=at) == spent


def test_the_same_trigger_elsewhere_or_long_ago_is_no_repeat(
    here: Place, there: Place
) -> None:
    for place in (here, there):
        loop_policy(place.project, dedupe_s=600)
    theirs, ours = there.decide(about="same"), here.decide(about="same")
    assert (theirs.identity, theirs.state_hash) == (ours.identity, ours.state_hash)
    assert (theirs.outcome, ours.outcome) == ("emitted", "emitted")
    repeat = here.decide(about="same")
    assert repeat.outcome == "deduplicated"
    assert str(ours.code) in repeat.reasoning + repeat.guardrails
    for row in (ours, repeat):
        Decision.objects.filter(pk=row.pk).update(
            decided_at=timezone.now() - timedelta(seconds=601)
        )
    assert here.decide(about="same").outcome == "emitted"


def test_notes_are_claimed_counted_and_returned_where_they_are(
    here: Place, there: Place
) -> None:
    for place in (here, there):
        loop_policy(place.project, rules=[NOTES])
    theirs, ours = there.note(), here.note()
    assert sense(here.project.pk).note_queue_length.value == 1

    here.decide()

    for each in (theirs, ours):
        each.refresh_from_db()
    assert (ours.state, theirs.state) == ("claimed", "queued")
    late = timezone.now() - timedelta(seconds=1)
    Note.objects.filter(pk=theirs.pk).update(state="claimed", claimed_until=late)
    Note.objects.filter(pk=ours.pk).update(claimed_until=late)
    fresh = here.note("Another")
    until = timezone.now() + HOUR
    Note.objects.filter(pk=fresh.pk).update(state="claimed", claimed_until=until)
    assert return_unconfirmed_notes(here.project.pk) == 1
    assert return_unconfirmed_notes(here.project.pk) == 0
    for each in (theirs, ours, fresh):
        each.refresh_from_db()
    assert [each.state for each in (ours, theirs, fresh)] == [
        *("queued", "claimed", "claimed"),
    ]
    assert (ours.claimed_until, fresh.claimed_until) == (None, until)


def test_an_agents_cap_is_its_own_and_a_person_has_the_projects_alone(
    here: Place, there: Place
) -> None:
    caps = {"notes": {"agent": 1, "project": 3}}
    for place in (here, there):
        make_policy("default", project=place.project, caps=caps)
        place.note()
    with pytest.raises(DomainError, match="open notes"):
        here.note("one too many")
    other = make_robot("other", project=here.project).principal
    here.note(by=other)
    person = here.manager.principal
    here.note(by=person)
    with pytest.raises(DomainError, match="open notes"):
        here.note(by=person)


def test_recommendations_are_drafted_and_ended_one_by_one(
    here: Place, there: Place
) -> None:
    rule = {**NOTES, "do": "apply_retro_recommendation"}
    loop_policy(here.project, rules=[rule])
    theirs = there.recommend()
    ours, second = here.recommend("First"), here.recommend("Second")
    assert sense(here.project.pk).pending_recommendations.value == 2

    decision = here.decide()

    rows = {each: Recommendation.objects.get(pk=each.pk) for each in (theirs, ours)}
    assert (rows[ours].state, rows[theirs].state) == ("drafted", "pending")
    assert json.loads(decision.event)["parameters"]["recommendation"] == str(ours.code)
    end_recommendation(row=second, person=here.manager.principal, adopt=False)
    states = {
        row.title: (row.state, row.ended_by_id)
        for row in Recommendation.objects.filter(project=here.project)
    }
    by = here.manager.user.pk
    assert states == {"First": ("drafted", None), "Second": ("dismissed", by)}


def test_incidents_of_one_name_are_each_projects_own(here: Place, there: Place) -> None:
    for place in (here, there):
        loop_policy(place.project, rules=[ALERT], caps_per_hour={"emit_alert": 99})
    disk = {"condition": "disk", "status": "firing", "title": "Full"}
    assert there.decide(**disk).outcome == "emitted"
    assert here.decide(**disk).outcome == "emitted"
    assert here.decide(**disk, again=1).outcome == "deduplicated"
    here.decide(**{**disk, "condition": "cpu"})

    well = {"condition": "all", "status": "all_good", "title": "All is well"}
    assert here.decide(**well).outcome != "emitted"  # something is open here
    for row in Incident.objects.filter(project=here.project):
        resolve_incident(incident=row, person=here.manager.principal)

    still = Incident.objects.get(project=there.project)
    assert (still.resolved_at, still.joins) == (None, 0)
    assert here.decide(**well).outcome == "emitted"
    assert there.loop.well_told_at is None


def test_one_incident_is_resolved_and_says_by_whom_it_was(here: Place) -> None:
    loop_policy(here.project, rules=[ALERT], caps_per_hour={"emit_alert": 99})
    for name in ("disk", "cpu"):
        here.decide(condition=name, status="firing", title="Full")
    disk, cpu = Incident.objects.filter(project=here.project).order_by("pk")
    ended = resolve_incident(
        incident=disk, person=here.manager.principal, note="Emptied"
    ).resolved_at
    again = resolve_incident(incident=disk, person=here.manager.principal)
    assert again.resolved_at == ended
    cpu.refresh_from_db()
    assert cpu.resolved_at is None
    run = here.loop.run
    assert run is not None
    (told,) = run.entries.filter(type="loop.alerted")
    assert json.loads(told.payload)["text"] == "Emptied"
    assert told.actor == here.manager.principal.actor


def test_the_same_key_elsewhere_is_another_signal(here: Place, there: Place) -> None:
    bodies = [
        accept_signal(
            project_id=place.project.pk,
            principal=place.agent,
            type=FAILED,
            dedupe_key="nightly",
        ).body
        for place in (here, there, here)
    ]
    assert bodies[0] == bodies[2] != bodies[1]
    assert Signal.objects.filter(project=here.project).count() == 1


def test_the_switch_and_the_clock_are_each_projects_own(
    here: Place, there: Place
) -> None:
    for place in (here, there):
        loop_policy(place.project)
        place.signal(about="first")
    person = here.manager.principal
    set_paused(project_id=here.project.pk, person=person, paused=True, reason="Why")
    assert here.loop.describe_pause() is not None
    assert there.loop.describe_pause() is None
    assert send_heartbeat(here.project.pk)
    assert there.loop.heartbeat_at is None
    assert there.loop.looked_at is None
    wake_loop(project_id=here.project.pk, person=person)
    assert there.loop.looked_at is None
    set_paused(project_id=here.project.pk, person=person, paused=False)
    loop = here.loop
    assert (loop.paused_at, loop.paused_by, loop.paused_reason) == (None, None, "")
    reviewer = make_person("rob", role=Role.REVIEWER, project=here.project).principal
    with pytest.raises(DomainError, match="manager"):
        wake_loop(project_id=here.project.pk, person=reviewer)
    set_paused(project_id=here.project.pk, person=reviewer, paused=True)
    with pytest.raises(DomainError, match="manager"):
        set_paused(project_id=here.project.pk, person=reviewer, paused=False)


def test_subscribers_hear_of_each_event_once_whoever_tells_them(
    here: Place, there: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[int, str]] = []

    def listen(event: dict[str, Any], project_id: int, **_: object) -> None:
        heard.append((project_id, event["parameters"]["about"]))

    monkeypatch.setattr("loop.control.clock.notify_subscribers", lambda _pk: 0)
    for place in (here, there):
        loop_policy(place.project)
        for about in ("a", "b"):
            assert place.decide(about=about).outcome == "emitted"
    loop_event.connect(listen)
    try:
        assert notify_subscribers(here.project.pk) == 2
        assert notify_subscribers(here.project.pk) == 0
        # Another worker has just told of all: nothing is told again.
        stale = here.loop
        stale.told = 0
        monkeypatch.setattr("loop.control.subscribers.get_loop", lambda _pk: stale)
        assert notify_subscribers(here.project.pk) == 0
    finally:
        loop_event.disconnect(listen)
    assert heard == [(here.project.pk, "a"), (here.project.pk, "b")]
    assert there.loop.told == 0
