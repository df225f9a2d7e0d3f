"""What the loop of a project sees: its own project, as far back as it should."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from common.errors import DomainError
from ledger.models import Entry, Run
from loop import runs
from loop.control.clock import run_cycle
from loop.cycle.sense import sense
from loop.inbox.outcomes import report_outcome
from loop.learning.iso_week import Week
from loop.learning.learn import _list_known_keys
from loop.learning.weekly import build_summary
from loop.models import (
    Decision,
    ProjectLoop,
    Recommendation,
)
from loop.runs import LOOKS_BACK, get_loop
from tests.conftest import client_for
from tests.loop.places import Place
from tests.loop.saying import loop_policy
from tests.support.builders import (
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live


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
