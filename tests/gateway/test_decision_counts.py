"""What was decided before and after a version came into force, counted by hand."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from gateway import decision_counts
from gateway.decision_counts import Around, Decided
from reviews.policies.selectors import list_activations
from reviews.policies.services import activate_version, create_version
from tests.gateway.calls.calls import command
from tests.support.builders import pause_at_once, start_run, step


def count(project: Project) -> list[Around]:
    """The newest first."""
    acts = list(list_activations(project, "default"))
    found = decision_counts.count_around_activations(
        project_id=project.pk, name="default", activations=acts
    )
    return [found[act.pk] for act in acts if act.pk in found]


def publish(project: Project, **document: Any) -> None:
    create_version(
        project_id=project.pk, name="default", document=document, activate=True
    )


def test_decisions_are_counted_from_one_activation_to_the_next(
    project: Project, agent: httpx.Client
) -> None:
    run = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{run}/steps", json=step(number))
    command(agent, run, "rm -rf src")  # asks
    publish(project, tools={"rules": {"delete-folder": "block"}})
    run = start_run(agent)
    assert command(agent, run, "rm -rf src")["decision"] == "block"
    pause_at_once(agent, run)
    publish(project, checks={"max_resets": 1})
    activate_version(project_id=project.pk, name="default", number=2, note="Back.")
    command(agent, start_run(agent), "ls")
    other = create_version(
        project_id=project.pk, name="docs", document={}, activate=True
    )
    assert other.activation

    assert count(project) == [
        Around(before=Decided(), after=Decided(decisions=1)),
        Around(before=Decided(2, 1, 1), after=Decided()),
        Around(before=Decided(3, 1, 0), after=Decided(2, 1, 1)),
    ]


def test_only_the_newest_entries_between_two_are_read(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    for number in range(1, 7):
        agent.post(f"/runs/{run}/steps", json=step(number))
    publish(project, checks={"max_resets": 1})
    publish(project, checks={"max_resets": 2})
    monkeypatch.setattr(decision_counts, "ENTRIES", 6)
    monkeypatch.setattr(decision_counts, "ACTIVATIONS", 1)
    assert count(project) == [Around(before=Decided(), after=Decided())]
    monkeypatch.setattr(decision_counts, "ACTIVATIONS", 2)
    _, first = count(project)
    # The chain begins with four entries of its own.
    assert first.before == Decided(decisions=2)


def test_entries_are_found_by_an_index_however_long_the_project_lives(
    project: Project, agent: httpx.Client
) -> None:
    """By their run or their position: no index has the time of an entry."""
    command(agent, start_run(agent), "ls")
    publish(project, checks={"max_resets": 1})
    with CaptureQueriesContext(connection) as queries:
        count(project)
    asked = [each["sql"] for each in queries if 'FROM "ledger_entry"' in each["sql"]]
    assert len(asked) == 3
    for sql in asked:
        assert re.search(r'"run_id" IN \(|"position"( >|\))', sql), sql
