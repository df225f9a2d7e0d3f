"""Tool calls beside a draft: exactly those that it decides otherwise are noted."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.gateway.calls.calls import command
from tests.gateway.shadow.test_steps import check_run, drop_places
from tests.gateway.shadow.watching import count_same, list_seen, watch
from tests.reviews.permissions.test_exemptions import LINE, exempt
from tests.support.builders import Person, start_run

SOFTER: dict[str, Any] = {"tools": {"rules": {"git-push-force": "warn"}}}
COMMANDS = ("git push --force", "rm -rf src", "ls", "git push --force origin main")


def ask(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    answers = [command(agent, run, text) for text in COMMANDS]
    names = ("id", "digest", "review", "grant", "grant_expires_at")
    return [{**each, **dict.fromkeys(names)} for each in answers]


def test_a_changed_rule_is_seen_at_exactly_its_calls(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    before = start_run(agent)
    alone = ask(agent, before)
    shadow = watch(project, alice, SOFTER)
    run = start_run(agent)

    beside = ask(agent, run)

    assert drop_places(beside, run) == drop_places(alone, before)
    seen = list_seen(shadow)
    assert [each["subject"] for each in seen] == [COMMANDS[0], COMMANDS[3]]
    for each in seen:
        assert (each["kind"], each["rule"]) == ("call", "git-push-force")
        assert each["move"] == "require-confirmation→warn"
        assert each["asks"] == "less"
    assert count_same(shadow) == (0, 2)
    check_run(run)


def test_a_call_that_no_longer_may_is_told_although_it_was_let_through(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, {"budget": {"tool_calls": 1}})
    run = start_run(agent)
    assert command(agent, run, "ls")["decision"] == "allow"
    assert command(agent, run, "ls -a")["grant"]
    (seen,) = list_seen(shadow)
    assert (seen["subject"], seen["move"]) == ("ls -a", "allow→block")
    assert seen["gate"] == "budget"


def test_a_call_with_a_secret_is_judged_and_nothing_of_it_is_kept(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    shadow = watch(project, alice, {"tools": {"rules": {"git-push-force": "block"}}})
    run = start_run(agent)
    command(agent, run, f"git push --force https://{secret}@example.invalid/x.git")
    assert secret not in str(list_seen(shadow))
    assert len(list_seen(shadow)) + count_same(shadow)[1] == 1


def test_a_secret_that_a_manager_exempted_is_none_for_the_draft_either(
    agent: httpx.Client, manager: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, SOFTER)
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    assert exempt(manager, blocked).status_code == 201
    assert command(agent, run, LINE)["decision"] == "allow"
    assert list_seen(shadow) == []
    assert count_same(shadow) == (0, 2)


@pytest.mark.parametrize("place", ["judge_call", "judge_live_call"])
def test_trouble_in_the_draft_is_told_and_changes_nothing(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    """Before the run is known, and after it."""
    shadow = watch(project, alice, SOFTER)
    run = start_run(agent)
    module = (
        "gateway.use_cases.tool_calls" if place == "judge_call" else "gateway.shadow"
    )
    judge = __import__(module, fromlist=[place]).__dict__[place]

    def fail(*args: Any, **named: Any) -> Any:
        rules = named.get("rules")
        if rules is not None and rules.rules.get("git-push-force") != "warn":
            return judge(*args, **named)
        raise ZeroDivisionError

    monkeypatch.setattr(f"{module}.{place}", fail)
    assert command(agent, run, "ls")["decision"] == "allow"
    (seen,) = list_seen(shadow)
    assert seen["reason"] == "judging it failed (ZeroDivisionError)"
    assert seen["before"]["decision"] == "allow"
    check_run(run)
