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
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.core.tools.first_look import ALWAYS_ASKED
from guidance.models import PolicyVersion
from guidance.services import get_policy_in_force
from reviews.queue import rule_counts
from reviews.queue.rule_counts import count_rules
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
    monkeypatch.setattr(rule_counts, "REVIEWS_LIMIT", 2)
    found = count_rules(project_id=answered.pk, days=7, at=timezone.now())
    assert (found.reviews, found.counted_all) == (2, False)


def test_another_project_is_not_counted(answered: Project, agent: httpx.Client) -> None:
    assert (
        count_rules(project_id=answered.pk + 10_000, days=7, at=timezone.now()).rules
        == ()
    )


def test_what_can_be_softened_is_softened_where_it_stands() -> None:
    document = {"tools": {"rules": {"delete-folder": "warn"}, "patterns": [OWN]}}
    assert build_warning_draft(document, "delete-folder") == document
    own = build_warning_draft(document, "prod")
    assert own is not None
    assert own["tools"]["patterns"] == [{**OWN, "decision": "warn"}]
    for name in ("confirm", "no-such-rule", *ALWAYS_ASKED):
        assert build_warning_draft(document, name) is None


def test_rules_of_other_policies_are_left_out_where_one_is_asked_for(
    answered: Project, agent: httpx.Client
) -> None:
    make_policy("other", project=answered)
    command(agent, start_run(agent, policy="other"), "rm -rf z")

    def count(**more: str) -> int:
        found = count_rules(
            project_id=answered.pk, days=7, at=timezone.now(), **more
        ).rules
        return next(each.asked for each in found if each.rule == "delete-folder")

    assert (count(), count(policy="default"), count(policy="other")) == (6, 5, 1)


def run_report(*words: str) -> str:
    out = StringIO()
    call_command("gateway_report", *words, stdout=out)
    return out.getvalue()


def test_the_command_tells_it_in_words_and_as_json(
    answered: Project, agent: httpx.Client
) -> None:
    """Of six calls that the rule asked about, two are asked about by others as well, and
    one because the agent wants a person."""
    command(agent, start_run(agent), "rm -rf wished", confirm=True)
    said = run_report("--project", answered.slug)
    assert "delete-folder" in said
    assert "asked 6 times, approved 3, denied 1" in said
    found = json.loads(run_report("--project", answered.slug, "--json"))
    assert found["rules"][0]["rule"] == "delete-folder"
    assert found["rules"][0]["approved"] == 3
    assert "newest" not in found["rules"][0]
    words = ("--project", answered.slug, "--draft", "delete-folder")
    draft = run_report(*words)
    assert yaml.safe_load(draft)["tools"]["rules"] == {"delete-folder": "warn"}
    assert "# 3 of 7 decisions would come out differently, in 1 run." in draft
    assert "# It no longer asks in 3 cases; of those people approved 2" in draft
    found = json.loads(run_report(*words, "--json"))
    assert found["backtest"]["moves"] == {"require-confirmation→warn": 3}
    assert found["backtest"]["other_reasons"] == 3
    assert found["changes"][0]["path"] == "tools.rules.delete-folder"
    assert PolicyVersion.objects.filter(project=answered).count() == 2


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


def test_another_projects_calls_change_no_report(
    answered: Project, live: Live, manager: httpx.Client
) -> None:
    other = make_project()
    with client_for(live, make_robot("robo", project=other)) as stranger:
        command(stranger, start_run(stranger), "rm -rf theirs")
    now = timezone.now()
    (theirs,) = count_rules(project_id=other.pk, days=7, at=now).rules
    assert (theirs.rule, theirs.asked, theirs.waiting) == ("delete-folder", 1, 1)
