"""Rules by how often they asked and how people answered, and what a draft would change."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import httpx
import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from guidance.core.policy import load_policy
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.services import get_policy_in_force
from reviews.rule_report import backtest, counts
from reviews.rule_report.counts import count_rules
from reviews.rule_report.drafts import build_rule_draft
from tests.conftest import client_for
from tests.gateway.calls.calls import command, rule, tool
from tests.support.builders import make_policy, make_project, make_robot, start_run
from tests.support.live import Live

OWN = {"name": "prod", "pattern": "prod", "message": "Names production"}


def answer_calls(agent: httpx.Client, reviewer: httpx.Client, project: Project) -> None:
    """delete-folder: 3 approved, 1 denied, 1 waiting; two of them together with more."""
    make_policy("default", project=project, tools={"patterns": [OWN]})
    run = start_run(agent)
    for text in ("rm -rf a", "rm -rf b", "rm -rf c && git push -f"):
        rule(reviewer, command(agent, run, text), "approve")
    rule(reviewer, command(agent, run, "rm -rf prod"), "deny")
    command(agent, run, "rm -rf d")
    rule(reviewer, command(agent, run, "git push -f"), "abort", note="No")


@pytest.fixture
def answered(agent: httpx.Client, reviewer: httpx.Client, project: Project) -> Project:
    answer_calls(agent, reviewer, project)
    return project


def test_each_rule_is_counted_with_its_answers(answered: Project) -> None:
    now = timezone.now()
    with CaptureQueriesContext(connection) as queries:
        found = count_rules(project_id=answered.pk, days=7, at=now)
    assert len(queries) == 2
    told = {
        count.rule: (count.asked, count.approved, count.denied, count.waiting)
        for count in found.rules
    }
    assert told["delete-folder"] == (
        5,
        3,
        1,
        0,
    )  # the one that waited ended with its run
    assert told["git-push-force"] == (2, 1, 0, 0)
    assert told["prod"] == (1, 0, 1, 0)
    assert (found.reviews, found.counted_all) == (6, True)
    assert found.rules[0].rule == "delete-folder"
    later = now + timedelta(days=8)
    assert count_rules(project_id=answered.pk, days=7, at=later).rules == ()


def test_only_so_many_are_counted(
    answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "REVIEWS_LIMIT", 2)
    found = count_rules(project_id=answered.pk, days=7, at=timezone.now())
    assert (found.reviews, found.counted_all) == (2, False)


def test_another_project_is_not_counted(answered: Project, agent: httpx.Client) -> None:
    assert (
        count_rules(project_id=answered.pk + 10_000, days=7, at=timezone.now()).rules
        == ()
    )


def test_a_draft_says_what_it_would_have_changed(answered: Project) -> None:
    draft = build_rule_draft(
        project_id=answered.pk, rule="delete-folder", days=7, at=timezone.now()
    )
    assert draft is not None
    found = draft.backtest
    # `rm -rf c && git push -f` and `rm -rf prod` are asked about by others as well.
    assert (found.calls, found.changed, found.still_asked) == (5, 3, 2)
    assert found.answers["approve"] == 2
    assert found.refused == []
    assert draft.document["tools"]["rules"] == {"delete-folder": "warn"}
    assert load_policy(draft.document).tools.rules == {"delete-folder": "warn"}
    assert "Of 5 calls that it asked about, 3 would have run" in draft.describe()


def test_an_own_pattern_is_softened_where_it_stands(answered: Project) -> None:
    draft = build_rule_draft(
        project_id=answered.pk, rule="prod", days=7, at=timezone.now()
    )
    assert draft is not None
    assert draft.document["tools"]["patterns"] == [{**OWN, "decision": "warn"}]
    assert (draft.backtest.changed, draft.backtest.still_asked) == (0, 1)


def test_a_refused_call_is_named(
    answered: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    denied = command(agent, start_run(agent), "rm -rf photos")
    rule(reviewer, denied, "deny")
    draft = build_rule_draft(
        project_id=answered.pk, rule="delete-folder", days=7, at=timezone.now()
    )
    assert draft is not None
    assert [str(review.code) for review in draft.backtest.refused] == [
        denied["review"]["id"]
    ]
    assert "denied 1" in draft.describe()


def test_what_cannot_be_softened_has_no_draft(answered: Project) -> None:
    document = {"tools": {"rules": {"delete-folder": "warn"}}}
    assert build_warning_draft(document, "delete-folder") == document
    assert build_warning_draft(document, "confirm") is None
    assert build_warning_draft(document, "no-such-rule") is None
    draft = build_rule_draft(
        project_id=answered.pk, rule="confirm", days=7, at=timezone.now()
    )
    assert draft is None


def test_calls_that_were_wished_for_stay_asked(
    agent: httpx.Client, project: Project
) -> None:
    command(agent, start_run(agent), "rm -rf a", confirm=True)
    draft = build_rule_draft(
        project_id=project.pk, rule="delete-folder", days=7, at=timezone.now()
    )
    assert draft is not None
    assert (draft.backtest.changed, draft.backtest.still_asked) == (0, 1)


def test_the_newest_calls_are_judged_again(
    answered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backtest, "CALLS_LIMIT", 2)
    draft = build_rule_draft(
        project_id=answered.pk, rule="delete-folder", days=7, at=timezone.now()
    )
    assert draft is not None
    assert (draft.backtest.calls, draft.backtest.judged_all) == (2, False)


def run_report(*words: str) -> str:
    out = StringIO()
    call_command("gateway_report", *words, stdout=out)
    return out.getvalue()


def test_the_command_tells_it_in_words_and_as_json(answered: Project) -> None:
    said = run_report("--project", answered.slug)
    assert "delete-folder" in said
    assert "asked 5 times, approved 3, denied 1" in said
    told = json.loads(run_report("--project", answered.slug, "--json"))
    assert told["rules"][0]["rule"] == "delete-folder"
    assert told["rules"][0]["approved"] == 3
    draft = run_report("--project", answered.slug, "--draft", "delete-folder")
    assert yaml.safe_load(draft)["tools"]["rules"] == {"delete-folder": "warn"}
    assert "# Of 5 calls" in draft
    told = json.loads(
        run_report("--project", answered.slug, "--draft", "delete-folder", "--json")
    )
    assert told["backtest"]["changed"] == 3
    assert told["changes"][0]["path"] == "tools.rules.delete-folder"


def test_the_command_refuses_what_it_does_not_know(project: Project) -> None:
    get_policy_in_force(project_id=project.pk, name="default")
    assert "No call was put before a person" in run_report("--project", project.slug)
    with pytest.raises(CommandError, match="no project"):
        run_report("--project", "nowhere")
    with pytest.raises(CommandError, match="no rule"):
        run_report("--project", project.slug, "--draft", "zzz")
    with pytest.raises(CommandError, match="--days"):
        run_report("--project", project.slug, "--days", "0")


def test_a_marked_tool_is_counted_by_its_gate(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, tools={"confirm": ["deploy"]})
    tool(agent, start_run(agent), "deploy", to="web")
    (count,) = count_rules(project_id=project.pk, days=7, at=timezone.now()).rules
    assert (count.rule, count.asked, count.waiting) == ("confirm", 1, 1)


def test_a_call_that_was_let_through_changed_is_named(
    answered: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    changed = command(agent, start_run(agent), "rm -rf photos")
    rule(reviewer, changed, "amend", amended={"command": "ls photos"})
    draft = build_rule_draft(
        project_id=answered.pk, rule="delete-folder", days=7, at=timezone.now()
    )
    assert draft is not None
    assert [str(review.code) for review in draft.backtest.refused] == [
        changed["review"]["id"]
    ]
    assert "changed 1" in draft.describe()


def test_calls_that_only_quote_a_rule_are_not_its_own(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They take a place among the newest, so that older ones may not be judged."""
    run = start_run(agent)
    for text in ("rm -rf a", "rm -rf b"):
        rule(reviewer, command(agent, run, text), "approve")
    make_policy("asks", project=project, tools={"confirm": ["quote"]})
    quoting = start_run(agent, policy="asks")
    tool(agent, quoting, "quote", rule="delete-folder")

    def judge(limit: int) -> backtest.Backtest:
        monkeypatch.setattr(backtest, "CALLS_LIMIT", limit)
        draft = build_rule_draft(
            project_id=project.pk, rule="delete-folder", days=7, at=timezone.now()
        )
        assert draft is not None
        return draft.backtest

    whole, most, least = judge(3), judge(2), judge(1)
    assert (whole.calls, whole.judged_all) == (2, True)
    assert most.judged_all is False, "one call of the rule was not looked at"
    assert least.judged_all is False


def test_the_newest_few_refusals_are_named_and_only_of_these_days(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backtest, "EXAMPLES_LIMIT", 2)
    run = start_run(agent)
    calls = [command(agent, run, f"rm -rf {n}") for n in range(4)]
    for each, word in zip(calls, ("deny", "deny", "amend", "approve"), strict=True):
        more = {"amended": {"command": "ls"}} if word == "amend" else {}
        rule(reviewer, each, word, **more)
    command(agent, start_run(agent), "rm -rf waits")

    def look(days_later: int = 0) -> backtest.Backtest:
        draft = build_rule_draft(
            project_id=project.pk,
            rule="delete-folder",
            days=7,
            at=timezone.now() + timedelta(days=days_later),
        )
        assert draft is not None
        return draft.backtest

    found = look()
    named = [str(review.code) for review in found.refused]
    assert named == [calls[2]["review"]["id"], calls[1]["review"]["id"]]
    assert dict(found.answers) == {"deny": 2, "amend": 1, "approve": 1, "open": 1}
    assert (found.calls, found.changed) == (5, 5)
    assert look(8).calls == 0
    told = found.to_json()
    assert told["refused"] == named
    assert told["judged_all"] is True


def test_another_projects_calls_change_no_report(
    answered: Project, live: Live, manager: httpx.Client
) -> None:
    other = make_project()
    with client_for(live, make_robot("robo", project=other)) as stranger:
        command(stranger, start_run(stranger), "rm -rf theirs")
    now = timezone.now()
    (theirs,) = count_rules(project_id=other.pk, days=7, at=now).rules
    assert (theirs.rule, theirs.asked, theirs.waiting) == ("delete-folder", 1, 1)
    draft = build_rule_draft(project_id=other.pk, rule="delete-folder", days=7, at=now)
    assert draft is not None
    assert draft.backtest.calls == 1
