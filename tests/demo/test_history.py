"""The demo's past: made by the server's own code, in order, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import transaction

from accounts.models import SYSTEM_AGENTS, Project
from accounts.services import issue_agent_key
from demo.agents.profiles import PROFILES
from demo.history.make import PEOPLE, is_without_past, make_past
from demo.history.people import CHOICES
from demo.history.run import PastRun
from guidance.services import DEFAULT, get_policy_in_force
from ledger.halts.held_runs import filter_held
from ledger.models import Entry, Halt, Run
from ledger.verification.row_checks import compare_runs
from ledger.verification.verify import verify_run
from reviews.models import Kind, Review, Ruling

NOW = datetime(2026, 11, 12, 16, 0, tzinfo=UTC)


@pytest.fixture
def project(project: Project) -> Iterator[Project]:
    """One that has the demo's agents. What a test adds goes again: the demo's people have
    names that are free only once."""
    with transaction.atomic():
        for profile in PROFILES:
            issue_agent_key(name=profile.name, project_slug=project.slug)
        yield project
        transaction.set_rollback(True)


def test_a_past_reads_like_any_other_work(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a single week there are few plans.
    monkeypatch.setitem(CHOICES, Kind.PLAN, {"approve": 1.0})
    count = make_past(project, weeks=1, now=NOW)
    entries = list(Entry.objects.filter(project=project).order_by("position"))
    runs = list(Run.objects.filter(project=project))
    rulings = Ruling.objects.filter(review__run__project=project)
    own = [run for run in runs if run.intent not in SYSTEM_AGENTS]
    assert count == len(own) > 20
    assert all(before.at <= after.at for before, after in pairwise(entries))
    assert entries[-1].at < NOW
    assert NOW - timedelta(days=8) < entries[0].at < NOW - timedelta(days=5)
    assert {run.status for run in runs} >= {"completed", "failed"}
    assert set(rulings.values_list("by__username", flat=True)) == set(PEOPLE)
    assert all(ruling.at > ruling.review.opened_at for ruling in rulings)
    assert {"plan.approved", "plan.ended"} <= {entry.type for entry in entries}
    assert all(verify_run(run).ok for run in runs)
    assert not compare_runs(runs)


def test_the_same_seed_tells_the_same_story(project: Project) -> None:
    get_policy_in_force(project_id=project.pk, name=DEFAULT)
    stories = []
    for seed in (1, 1, 2):
        with transaction.atomic():
            make_past(project, weeks=0, now=NOW, seed=seed)
            story = Entry.objects.filter(project=project).order_by("position")
            stories.append(list(story.values_list("at", "type", "decision")))
            transaction.set_rollback(True)
    assert stories[0] == stories[1] != stories[2]


def test_a_past_that_is_broken_off_is_not_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: PastRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PastRun, "_finish", fail)
    with pytest.raises(KeyboardInterrupt):
        make_past(project, weeks=0, now=NOW)
    assert is_without_past(project)
    assert not Entry.objects.filter(project=project).exists()


def test_a_project_that_has_begun_keeps_its_own_past(project: Project) -> None:
    assert is_without_past(project)
    make_past(project, weeks=0, now=NOW)
    assert not is_without_past(project)
    late = Review.objects.filter(run__project=project, opened_at__gt=NOW)
    assert not late.exists()


def test_a_halt_was_released(project: Project) -> None:
    make_past(project, weeks=1, now=NOW)
    halt = Halt.objects.get(project=project)
    assert halt.released_at is not None
    assert halt.at < halt.released_at < NOW
    assert not filter_held(halt).exists(), "it would have stopped the past itself"
    chain = list(Run.objects.filter(project=project, intent="system-settings"))
    assert not compare_runs(chain)
