"""The tool gateway's page: what asked, how people answered, and a draft to ask less."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from guidance.models import PolicyVersion
from reviews.models import Backtest
from reviews.tasks import run_backtests
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def read(person: Person, project: Project, path: str = "", status: int = 200) -> str:
    page = open_browser(person.user).get(f"/p/{project.slug}/gateway/{path}")
    assert page.status_code == status
    return page.content.decode()


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_nobody_was_asked_yet(project: Project, alice: Person) -> None:
    said = plain(read(alice, project))
    assert "Nobody was asked in the last 30 days" in said
    assert "7 days" in plain(read(alice, project, "?days=7"))


def test_a_rule_is_listed_with_its_answers_and_a_draft(
    project: Project, alice: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    for number in range(19):
        rule(reviewer, command(agent, run, f"rm -rf a{number}"), "approve")
    rule(reviewer, command(agent, run, "rm -rf b"), "deny")
    rule(reviewer, command(agent, run, "git branch -D a"), "approve")
    rule(reviewer, command(agent, run, "git branch -D b"), "deny")
    command(agent, run, "curl x | sh")
    page = read(alice, project)
    said = plain(page)
    assert "delete-folder" in said
    assert "20 times" in said
    assert "approved 19 of 20" in said
    assert "waiting 1" in said
    # One rule was approved often enough; one was not, and nobody has ruled on the third.
    assert re.findall(r'name="rule" value="([^"]*)"', page) == ["delete-folder"]
    for other in ("git-branch-delete", "remote-code", "git-clean"):
        refused = make_draft(alice, project, other)
        assert refused.status_code == 422
        assert "People do not approve most of" in plain(refused.content.decode())
    assert not PolicyVersion.objects.filter(project=project, version=2).exists()
    answer = make_draft(alice, project, "delete-folder")
    assert answer.status_code == 302
    run_backtests()
    tried = Backtest.objects.get(project=project)
    assert answer["Location"] == f"/p/{project.slug}/backtests/{tried.code}/"
    version = PolicyVersion.objects.get(project=project, version=2)
    assert json.loads(version.document)["tools"]["rules"] == {"delete-folder": "warn"}
    assert "delete-folder warns instead of asking" in version.note
    draft = open_browser(alice.user).get(answer["Location"]).content.decode()
    said = plain(draft)
    assert "No longer asks in 20 cases ; people had approved 19 of those" in said
    assert "rm -rf b" in said
    assert "Disagree 1" in said, "the one that was denied"
    # The same draft again is shown, not made.
    again = make_draft(alice, project, "delete-folder")
    assert again["Location"] == f"/p/{project.slug}/policies/default/versions/2/"
    assert Backtest.objects.filter(project=project).count() == 1


def test_a_draft_is_of_the_projects_default_policy(
    project: Project, alice: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    make_policy(
        "strict", project=project, tools={"rules": {"delete-named-file": "block"}}
    )
    Project.objects.filter(pk=project.pk).update(default_policy="strict")
    rule(reviewer, command(agent, start_run(agent), "rm -rf a"), "approve")
    assert make_draft(alice, project, "delete-folder").status_code == 302
    version = PolicyVersion.objects.filter(project=project).latest("pk")
    assert (version.name, version.version) == ("strict", 2)
    assert json.loads(version.document)["tools"]["rules"] == {
        "delete-named-file": "block",
        "delete-folder": "warn",
    }


def make_draft(person: Person, project: Project, rule: str) -> Any:
    address = f"/p/{project.slug}/gateway/draft/"
    return open_browser(person.user).post(address, {"rule": rule, "days": "7"})


def test_a_draft_that_cannot_be_tried_now_is_refused_in_words(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule(reviewer, command(agent, start_run(agent), "rm -rf a"), "approve")
    monkeypatch.setattr("reviews.policies.backtest.services.UNENDED_LIMIT", 0)
    answer = make_draft(alice, project, "delete-folder")
    assert answer.status_code == 429
    assert "backtests of this project are not done yet" in answer.content.decode()


def test_only_managers_see_it(project: Project, bob: Person, charlie: Person) -> None:
    for person in (bob, charlie):
        read(person, project, status=404)
        assert make_draft(person, project, "delete-folder").status_code == 404
    queue = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert "/gateway/" not in queue


def test_what_cannot_be_softened_has_no_draft(project: Project, alice: Person) -> None:
    for rule_name in ("confirm", "zzz", ""):
        assert make_draft(alice, project, rule_name).status_code == 422
    read(alice, project, "draft/", status=302)


def test_it_takes_as_many_queries_however_many_there_are(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    browser, taken = open_browser(alice.user), []
    address = f"/p/{project.slug}/gateway/"
    browser.get(address)
    for _ in range(2):
        run = start_run(agent)
        for number in range(4):
            command(agent, run, f"rm -rf a{number}")
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200
        taken.append(len(queries))
    assert taken[0] == taken[1] <= 13
