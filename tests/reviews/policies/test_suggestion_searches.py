"""Rules that people always approve become drafts, and history is looked through in turn."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from guidance.core.policy.differences import list_differences
from reviews.models import SuggestionSearch
from reviews.policies.suggestions.services import list_due_policies
from reviews.tasks import run_backtests
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_call
from tests.reviews.policies.suggesting import (
    SETTING,
    answer_calls,
    draft,
    look,
    read,
    report,
)
from tests.reviews.policies.trials import get as get_backtest
from tests.support.builders import (
    make_policy,
    make_project,
    start_run,
)
from tests.support.problems import problem


def test_calls_of_other_policies_do_not_count_for_a_rule(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    often = {"learn": {"always_approved": {"at_least": 2}}}
    for name in ("default", "other"):
        make_policy(name, project=project, loop=often)
    run = start_run(agent, policy="other")
    for number in range(2):
        rule_call(reviewer, command(agent, run, f"rm -rf {number}"), "approve")
    assert look(manager)["rules"] == []
    (suggested,) = look(manager, "other")["rules"]
    assert (suggested["rule"], suggested["asked"]) == ("delete-folder", 2)


def test_a_rule_that_is_always_approved_is_suggested_and_drafted(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    """Twenty times approved and never denied; with one denial it is not, nor below
    twenty, nor where the guard itself is touched."""
    answer_calls(agent, reviewer, "rm -rf a", *["approve"] * 20)
    answer_calls(agent, reviewer, "git push -f origin b", *["approve"] * 20, "deny")
    answer_calls(agent, reviewer, "git reset --hard c", *["approve"] * 19)
    command(agent, start_run(agent), "rm -rf waits")
    found = look(manager)
    (suggested,) = found["rules"]
    assert suggested["setting"] == "tools.rules.delete-folder"
    record = ("asked", "approved", "denied", "waiting")
    assert [suggested[name] for name in record] == [21, 20, 0, 1]
    assert suggested["meaning"] == "delete-folder: asks a person → noted"
    assert suggested["because"] == (
        "Asked 21 times: people approved 20, and denied or changed none. 1 still waiting."
    )
    assert [each["answer"] for each in suggested["calls"]] == [
        "waiting",
        *["approved"] * 4,
    ]

    made = draft(manager, suggested["setting"]).json()

    before, after = (
        manager.get(f"/policies/default/versions/{number}").json()["document"]
        for number in (1, made["version"])
    )
    (change,) = list_differences(before, after)
    assert (change.path, change.after) == ("tools.rules.delete-folder", "warn")
    run_backtests()
    tried = get_backtest(manager, made["backtest"])
    assert tried["moves"] == {"require-confirmation→warn": suggested["asked"]}
    less = tried["agrees_with_people"]["asked_less"]
    assert less == {"total": 21, "approve": 20, "no_ruling": 1}


def test_another_version_in_force_has_to_be_looked_at_first(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    answer_calls(agent, reviewer, "rm -rf a", *["approve"] * 20)
    (suggested,) = look(manager)["rules"]
    make_policy("default", project=project, **{"continue": {"repeat_limit": 4}})
    assert read(manager)["stale"] is True
    refused = draft(manager, suggested["setting"])
    assert problem(refused, "stale-version")["status"] == 412
    assert look(manager)["stale"] is False
    assert draft(manager, suggested["setting"]).status_code == 201


def test_nobody_has_looked_yet_and_one_search_is_under_way_at_a_time(
    manager: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    nothing = read(reviewer)
    assert (nothing["state"], nothing["limits"], nothing["rules"]) == (None, [], [])
    for _ in range(2):
        answer = manager.post("/policies/default/suggestions", json={})
        assert (answer.status_code, answer.json()["state"]) == (202, "waiting")
    (search,) = SuggestionSearch.objects.filter(project=project)
    theirs = SuggestionSearch.objects.create(
        project=make_project(),
        policy=search.policy,
        version=search.version,
        since=search.since,
        until=search.until,
        state="finished",
    )
    assert draft(manager, SETTING).status_code == 404
    for _ in range(5):
        look(manager)
    assert SuggestionSearch.objects.filter(project=project).count() == 3
    assert SuggestionSearch.objects.filter(pk=theirs.pk).exists()
    assert reviewer.post("/policies/default/suggestions", json={}).status_code == 403
    assert draft(reviewer, SETTING).status_code == 403
    assert manager.get("/policies/nothing/suggestions").status_code == 404


def test_each_policy_is_looked_at_once_a_day_where_it_judged_something(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("idle", project=project)

    def list_due(*, days: float) -> list[str]:
        due = list_due_policies(timezone.now() + timedelta(days=days))
        return [policy.name for policy in due.filter(project=project)]

    assert list_due(days=0) == []
    report(agent, start_run(agent), 0.1)
    assert list_due(days=0) == ["default"]
    look(manager)
    assert list_due(days=0.9) == []
    assert list_due(days=2) == [], "nothing was judged since"
    report(agent, start_run(agent), 0.1)
    assert list_due(days=0.9) == []
    assert list_due(days=2) == ["default"]


def test_a_draft_without_room_for_its_backtest_is_not_made(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer_calls(agent, reviewer, "rm -rf a", *["approve"] * 20)
    (suggested,) = look(manager)["rules"]
    monkeypatch.setattr("reviews.policies.backtest.services.UNENDED_LIMIT", 0)
    assert draft(manager, suggested["setting"]).status_code == 429
    assert len(manager.get("/policies/default/versions").json()["items"]) == 1
