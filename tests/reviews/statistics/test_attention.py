"""How much of people's attention agents took, from what really happened."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import httpx
import pytest
from django.apps import apps
from django.db import transaction

from accounts.models import Project
from ledger.models import PeriodCount, PeriodTotals, StatisticsCursor
from ledger.statistics.counting import count_project, count_slice
from ledger.statistics.recount import list_differences, rebuild_statistics
from ledger.statistics.selectors import get_counted_until, read_totals
from reviews.statistics.attention import read_attention
from reviews.statistics.counts import FOLDED
from tests.gateway.calls.calls import command, rule
from tests.gateway.plans.planning import approve, bash, build_plan, build_step
from tests.ledger.statistics.work import scope_of
from tests.reviews.floods import ask_to_run
from tests.reviews.rulings.test_bulk import read_items, rule_all
from tests.reviews.statistics.test_reviews import ask
from tests.support.builders import make_policy, pause_at_once, start_run


def read_figures(manager: httpx.Client, project: Project, **query: Any) -> Any:
    count_project(project_id=project.pk)
    assert list_differences(project_id=project.pk) == []
    return ask(manager, **query)


def test_nothing_is_not_known(manager: httpx.Client) -> None:
    figures = ask(manager)
    assert figures["interruptions"] == {
        "reviews": 0,
        "agent_hours": 0.0,
        "per_agent_hour": None,
    }
    assert figures["not_asked"] == {"permission": 0, "plan": 0, "model": 0, "folded": 0}
    assert figures["disagreement"] == {
        "with_gates": {
            "ruled": 0,
            "approved": 0,
            "changed": 0,
            "denied": 0,
            "share": None,
        },
        "with_model": {
            "compared": 0,
            "too_lenient": 0,
            "too_strict": 0,
            "share": None,
        },
    }


def test_what_answered_in_place_of_a_person(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    remember = {"scope": "exact", "uses": 5}
    rule(reviewer, command(agent, run), "approve", remember=remember)
    for _ in range(2):
        assert command(agent, run)["decision"] == "allow"
    planned = start_run(agent)
    plan = build_plan(build_step(bash("rm -rf old"), bash("ls"), paths=["old"]))
    approve(agent, reviewer, planned, plan)
    # Nobody would have been asked about the second.
    for text in ("rm -rf old", "ls"):
        assert command(agent, planned, text)["decision"] == "allow"
    alike = [ask_to_run(agent, f"rm -rf src/{name}") for name in "abcd"]
    rule_all(reviewer, read_items(reviewer, alike), "deny", "In use.")

    figures = read_figures(manager, project)
    assert figures["not_asked"] == {"permission": 2, "plan": 1, "model": 0, "folded": 3}
    assert figures["interruptions"]["reviews"] == figures["opened"] == 6
    assert figures["disagreement"]["with_gates"] == {
        "ruled": 5,
        "approved": 1,
        "changed": 0,
        "denied": 4,
        "share": 0.8,
    }
    nobody = read_figures(manager, project, agent="nobody")
    assert sum(nobody["not_asked"].values()) == 0


def test_changed_calls_and_aborted_runs_are_no_agreement(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    amended = {"command": "ls build"}
    changed = rule(reviewer, command(agent, start_run(agent)), "amend", amended=amended)
    assert changed.status_code == 200, changed.text
    rule(reviewer, command(agent, start_run(agent)), "abort")
    rule(reviewer, command(agent, start_run(agent)), "approve")
    pause_at_once(agent, start_run(agent))

    gates = read_figures(manager, project)["disagreement"]["with_gates"]
    assert (gates["ruled"], gates["changed"], gates["denied"]) == (3, 1, 1)
    assert gates["share"] == pytest.approx(0.6667)


def test_what_the_server_asks_itself_interrupts_nobody_for_an_agent(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, four_eyes={"policy": True})
    body = {"document": {"checks": {"max_resets": 1}}, "note": "Fewer resets"}
    assert manager.post("/policies/default/versions", json=body).status_code == 201
    wanted = manager.post("/policies/default/versions/3/activate", json={"note": "Now"})
    assert wanted.status_code == 202, wanted.text
    question = {"title": "Which colour?", "kind": "question"}
    asked = agent.post(f"/runs/{start_run(agent)}/reviews", json=question)
    assert asked.status_code == 201, asked.text

    figures = read_figures(manager, project)
    assert (figures["opened"], figures["interruptions"]["reviews"]) == (2, 1)


def test_an_older_ledger_is_counted_whole(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """In slices of any size, and again."""
    alike = [ask_to_run(agent, f"rm -rf src/{name}") for name in "abc"]
    rule_all(reviewer, read_items(reviewer, alike), "approve")
    rebuild_statistics(project_id=project.pk)
    whole = read_totals(scope=scope_of(project))
    assert whole.reviews_opened == 3
    rebuild_in_slices(project, size=1)
    assert read_totals(scope=scope_of(project)) == whole


def test_an_upgrade_forgets_the_figures_and_counts_them_anew(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    alike = [ask_to_run(agent, f"rm -rf src/{name}") for name in "ab"]
    rule_all(reviewer, read_items(reviewer, alike), "approve")
    rebuild_statistics(project_id=project.pk)
    whole = read_attention(scope=scope_of(project))
    assert (whole.reviews, whole.not_asked[FOLDED]) == (2, 1)
    migration = import_module("ledger.migrations.0015_count_attention")
    with transaction.atomic():
        migration.forget_figures(apps, None)
        assert get_counted_until(project_id=project.pk).at is None
        assert read_attention(scope=scope_of(project)).reviews == 0
        count_project(project_id=project.pk)
        assert read_attention(scope=scope_of(project)) == whole
        transaction.set_rollback(True)


def rebuild_in_slices(project: Project, *, size: int) -> None:
    PeriodTotals.objects.filter(project=project).delete()
    PeriodCount.objects.filter(project=project).delete()
    StatisticsCursor.objects.filter(pk=project.pk).update(position=0)
    while count_slice(project_id=project.pk, size=size):
        pass
