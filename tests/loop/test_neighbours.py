"""The loop of a project looks at that project, and changes nothing of any other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.auth import Principal
from accounts.models import Project, Role
from common.errors import DomainError
from ledger.models import Entry, Run
from loop import runs
from loop.control.clock import run_cycle, send_heartbeat, wake_loop
from loop.control.subscribers import loop_event, notify_subscribers
from loop.control.switch import set_paused
from loop.cycle.sense import sense
from loop.inbox.incidents import resolve_incident
from loop.inbox.notes import add_note, return_unconfirmed_notes
from loop.inbox.outcomes import report_outcome
from loop.inbox.recommendations import add_recommendation, end_recommendation
from loop.inbox.triggers import accept_signal
from loop.learning.iso_week import Week
from loop.learning.learn import _list_known_keys
from loop.learning.weekly import build_summary
from loop.models import (
    Decision,
    Incident,
    Note,
    ProjectLoop,
    Recommendation,
    Signal,
)
from loop.runs import LOOKS_BACK, get_loop
from loop.selectors import HOUR, count_used_this_hour, sum_spent_today
from tests.conftest import client_for
from tests.loop.saying import FAILED, loop_policy
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

NOTES = {"name": "n", "when": {}, "do": "process_notes", "reason": "so"}
ADVICE = {"advice": "Read the guide."}
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


@dataclass(frozen=True, kw_only=True)
class Place:
    """A project with an agent and a manager in it."""

    project: Project
    agent: Principal
    manager: Person

    @property
    def loop(self) -> ProjectLoop:
        return get_loop(self.project.pk)

    def signal(self, type: str = FAILED, **data: Any) -> str:
        told = accept_signal(
            project_id=self.project.pk, principal=self.agent, type=type, data=data
        )
        code: str = json.loads(told.body)["decision_id"]
        return code

    def decide(self, type: str = FAILED, **data: Any) -> Decision:
        code = self.signal(type, **data)
        run_cycle(self.project.pk)
        return Decision.objects.get(code=code)

    def note(self, text: str = "Look at it", by: Principal | None = None) -> Note:
        told = add_note(
            project_id=self.project.pk,
            principal=by or self.agent,
            text=text,
            data={},
        )
        return Note.objects.get(code=json.loads(told.body)["id"])

    def recommend(self, title: str = "Read it") -> Recommendation:
        told = add_recommendation(
            project_id=self.project.pk,
            principal=self.agent,
            title=title,
            detail="",
            change=ADVICE,
        )
        return Recommendation.objects.get(code=json.loads(told.body)["id"])


def make_place() -> Place:
    project = make_project()
    return Place(
        project=project,
        agent=make_robot(project=project).principal,
        manager=make_person("mia", role=Role.MANAGER, project=project),
    )


@pytest.fixture
def here(database: None) -> Place:
    return make_place()


@pytest.fixture
def there(database: None) -> Place:
    return make_place()


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


def test_the_first_report_of_a_run_stays_and_one_decision_is_reported_on(
    here: Place, there: Place
) -> None:
    loop_policy(here.project)
    first, second = here.decide(about="a"), here.decide(about="b")
    report_outcome(
        decision=first,
        principal=here.agent,
        report={"outcome": "failed", "summary": "No", "run": None},
    )
    reported = {
        row.pk: row.reported for row in Decision.objects.filter(project=here.project)
    }
    assert reported == {first.pk: "failed", second.pk: ""}
    noop = here.decide("agent/other")
    with pytest.raises(DomainError, match="emitted no event"):
        report_outcome(decision=noop, principal=here.agent, report={"outcome": "x"})


def test_lessons_that_are_known_are_this_projects_open_or_recent_ones(
    here: Place, there: Place
) -> None:
    since = timezone.now() - timedelta(days=7)
    for place, key, state, ended in (
        (there, "elsewhere", "pending", None),
        (here, "", "pending", None),
        (here, "open", "pending", None),
        (here, "drafted", "drafted", None),
        (here, "recent", "dismissed", since + timedelta(seconds=1)),
        (here, "past", "dismissed", since),
    ):
        row = place.recommend(key or "sent")
        Recommendation.objects.filter(pk=row.pk).update(
            key=key, state=state, ended_at=ended
        )
    known = _list_known_keys(here.project.pk, since=since)
    assert known == {"open", "drafted", "recent"}


def test_a_week_holds_its_own_decisions_from_its_first_moment_to_its_last(
    here: Place, there: Place
) -> None:
    for place in (here, there):
        loop_policy(place.project)
    there.decide(about="a")
    rows = [here.decide(about=about) for about in ("a", "b", "c", "d")]
    week = Week.parse("2026-W10")
    moment = timedelta(microseconds=1)
    for row, at in zip(
        rows,
        (week.begins - moment, week.begins, week.ends - moment, week.ends),
        strict=True,
    ):
        Decision.objects.filter(pk=row.pk).update(decided_at=at)
    assert build_summary(here.project.pk, week=week).decisions == 2


def test_a_loop_that_begins_hears_of_the_last_minutes_and_not_of_years(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "failed"})
    newest = Entry.objects.filter(project=project).latest("position").position
    assert timedelta(minutes=15) == LOOKS_BACK
    for minutes, position in ((16, newest), (14, 0)):
        at = timezone.now() + timedelta(minutes=minutes)
        monkeypatch.setattr(runs, "timezone", SimpleNamespace(now=lambda at=at: at))
        ProjectLoop.objects.filter(pk=project.pk).delete()
        loop = get_loop(project.pk)
        assert (loop.heard, loop.told) == (position, position)


def test_what_is_left_unfinished_is_counted_where_it_is_for_a_week(
    agent: httpx.Client, live: Live, project: Project, there: Place
) -> None:
    with client_for(live, make_robot("other", project=there.project)) as stranger:
        elsewhere = start_run(stranger)
        stranger.post(f"/runs/{elsewhere}/checkpoints", json={"step": 0})
        pause_at_once(stranger, start_run(stranger))
    given_up, later = start_run(agent), start_run(agent)
    agent.post(f"/runs/{given_up}/checkpoints", json={"step": 0})
    pause_at_once(agent, start_run(agent))
    run_cycle(project.pk)  # the run of the loop itself is nobody's work
    now = timezone.now()
    Run.objects.filter(code__in=[given_up, elsewhere]).update(
        status="abandoned", finished_at=now
    )

    def look() -> tuple[int, dict[str, int]]:
        snapshot = sense(project.pk)
        return snapshot.active_runs.value, snapshot.half_done.value

    left = {"paused": 1, "stopped": 0, "abandoned": 1, "checkpoints_not_resumed": 1}
    assert look() == (1, left)
    rows = Run.objects.filter(code=given_up)
    Run.objects.filter(code=later).update(parent=rows.get())
    assert look() == (1, {**left, "checkpoints_not_resumed": 0})
    Run.objects.filter(code=later).update(parent=None)
    rows.update(finished_at=now - timedelta(days=7, seconds=1))
    assert look() == (1, {**left, "abandoned": 0, "checkpoints_not_resumed": 0})


def test_the_newest_of_what_happened_here_is_seen(
    agent: httpx.Client, live: Live, project: Project, there: Place
) -> None:
    with client_for(live, make_robot("other", project=there.project)) as stranger:
        body = {"outcome": "failed", "summary": "theirs"}
        stranger.post(f"/runs/{start_run(stranger)}/finish", json=body)
    for number in range(12):
        words = f"{number} " + "x" * 400
        body = {"outcome": "completed", "summary": words}
        agent.post(f"/runs/{start_run(agent)}/finish", json=body)
    run_cycle(project.pk)

    seen = sense(project.pk).recent_log_entries.value

    assert [each["said"].split()[0] for each in seen] == [
        str(number) for number in range(11, 1, -1)
    ]
    assert {each["type"] for each in seen} == {"run.completed"}
    assert max(len(each["said"]) for each in seen) <= 200
