"""The pages of policies: the list, one policy in words with its history, two compared."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import replace_assignments
from reviews.policies.services import activate_version, create_version
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def read(person: Person, project: Project, path: str = "", status: int = 200) -> str:
    page = open_browser(person.user).get(f"/p/{project.slug}/policies/{path}")
    assert page.status_code == status
    return page.content.decode()


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_a_new_project_has_the_policy_that_is_shipped(
    project: Project, bob: Person
) -> None:
    said = plain(read(bob, project))
    assert "default version 1 1 version" in said
    assert "It comes with Checkrail." in said
    assert "all as built in 0 runs" in said


def test_the_list_says_who_put_what_in_force_why_and_how_much_it_is_used(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    create_version(
        project_id=project.pk,
        name="default",
        document={"continue": {"repeat_limit": 4}, "budget": {"tokens": None}},
        note="Repeats are usual here.",
        author=alice.principal,
        activate=True,
    )
    create_version(project_id=project.pk, name="docs", document={"runs": {}})
    start_run(agent)
    said = plain(read(alice, project))
    assert "default version 2 2 versions" in said
    assert f"{alice.user.display_name} Repeats are usual here. 2 settings 1 run" in said
    assert "docs only drafts 1 version – – –" in said


def test_one_policy_is_told_in_sentences_with_its_gates_and_rules(
    project: Project, bob: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    make_policy(
        "default",
        project=project,
        tools={"rules": {"git-*": "warn", "delete-folder": "block"}},
        gates={
            "unit-tests": {
                "severity": "critical",
                "criteria": ["All pass"],
                "retry": {"max_attempts": 4},
            }
        },
        **{"continue": {"max_rework_ratio": 0.25}},
    )
    said = plain(read(bob, project, "default/"))
    assert (
        "Pauses when more than 25 % (default 30 %) of the last 20 steps redo earlier "
        "work, judged from 5 steps on. continue.max_rework_ratio" in said
    )
    assert "unit-tests critical blocking 4 attempts" in said
    assert "1 criterion All pass" in said
    assert "delete-folder" in said
    assert "blocked built in: asks a person – – –" in said
    assert re.search(r"git-\* \d+ rules noted", said)
    assert "version 2, in force" in said


def test_a_value_leads_managers_to_its_field(
    project: Project, alice: Person, bob: Person
) -> None:
    field = "/policies/default/edit/?version=1#f:continue.max_rework_ratio"
    assert field in read(alice, project, "default/")
    assert "#f:" not in read(bob, project, "default/")


def test_a_rule_stands_beside_what_people_answered(
    project: Project, alice: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf a"), "approve")
    rule(reviewer, command(agent, run, "rm -rf b"), "deny")
    command(agent, run, "rm -rf c")
    assert "asks a person 3 1 1" in plain(read(alice, project, "default/"))


def test_a_draft_is_shown_against_the_version_in_force(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project, runs={"abandon_after_s": 60})
    create_version(
        project_id=project.pk,
        name="docs",
        document={"runs": {"abandon_after_s": 120}},
        note="Slow tools.",
        author=alice.principal,
    )
    said = plain(read(alice, project, "docs/versions/2/"))
    assert "version 2 version 1 is in force" in said
    assert "Changed against version 1 1" in said
    assert "Abandoned after: 1 min → 2 min" in said
    assert "reports nothing for 1 min 2 min counts as abandoned" in said
    assert "Version 2 Draft" in said
    assert "Slow tools." in said
    in_force = plain(read(alice, project, "docs/"))
    assert "version 1, in force" in in_force
    assert "Changed against" not in in_force
    read(alice, project, "docs/versions/3/", status=404)
    read(alice, project, "nothing/", status=404)


def test_the_history_tells_of_every_time_a_version_came_into_force(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project, runs={"abandon_after_s": 60})
    make_policy("docs", project=project, runs={"abandon_after_s": 120})
    activate_version(
        project_id=project.pk,
        name="docs",
        number=1,
        note="The second one was wrong.",
        by=alice.principal,
    )
    said = plain(read(alice, project, "docs/"))
    history = said.partition("History")[2]
    assert re.search(r"Version 2 (?!Draft|In force)", history)
    assert "Abandoned after: 1 min → 2 min" in history
    assert re.search(
        rf"Version 1 In force .* in force [^:]* by {alice.user.display_name}: "
        "The second one was wrong.",
        history,
    )


def test_a_version_is_compared_with_what_was_in_force_not_with_a_draft(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project, runs={"abandon_after_s": 60})
    for seconds, activate in ((3600, False), (120, True)):
        create_version(
            project_id=project.pk,
            name="docs",
            document={"runs": {"abandon_after_s": seconds}, "checks": {"max_resets": 1}}
            if not activate
            else {"runs": {"abandon_after_s": seconds}},
            activate=activate,
        )
    page = read(alice, project, "docs/")
    newest = plain(page).partition("History")[2].partition("Version 2")[0]
    assert "Silent runs, Abandoned after: 1 min → 2 min" in newest
    assert "compare/?from=1&amp;to=3" in page


def test_the_history_says_what_an_activation_did(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    command(agent, start_run(agent), "rm -rf a")
    create_version(
        project_id=project.pk,
        name="default",
        document={"tools": {"rules": {"delete-folder": "block"}}},
        activate=True,
    )
    run = start_run(agent)
    for text in ("rm -rf a", "git push --force"):
        command(agent, run, text)
    history = plain(read(alice, project, "default/")).partition("History")[2]
    assert (
        "asked 1 of 1 before, 1 of 2 since; stopped 0 of 1 before, 1 of 2 since"
        in history
    )
    assert "Restore …" in history


def test_two_versions_are_compared_in_words_and_as_text(
    project: Project, bob: Person
) -> None:
    make_policy("docs", project=project, tools={"confirm": ["Bash"]})
    make_policy("docs", project=project, tools={"confirm": []})
    make_policy("docs", project=project, budget={"tokens": 5000})
    said = plain(read(bob, project, "docs/compare/?from=1&to=2"))
    assert "In words version 1 → version 2, 1" in said
    assert "Asks less Tool calls, Always a person: Bash → none tools.confirm" in said
    assert "- removed - Bash" in said.replace("\N{MINUS SIGN}", "-")
    newest = plain(read(bob, project, "docs/compare/"))
    assert "version 2 → version 3, 2" in newest
    assert "Stops sooner Budget, Tokens: 1,000,000 tokens → 5,000 tokens" in newest
    same = plain(read(bob, project, "docs/compare/?from=2&to=2"))
    assert "Nothing differs: both say the same." in same
    assert "As text" not in same
    read(bob, project, "docs/compare/?from=9&to=1", status=404)
    assert "version 2 → version 3" in plain(
        read(bob, project, "docs/compare/?from=x&to=99999999999")
    )


def test_the_pages_take_as_many_queries_however_many_versions_there_are(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    taken = []
    for round_ in range(2):
        for number in range(3):
            make_policy(
                "docs",
                project=project,
                runs={"abandon_after_s": 60 + round_ * 9 + number},
            )
        browser.get(f"/p/{project.slug}/policies/docs/")
        for path in ("", "docs/", "docs/compare/"):
            with CaptureQueriesContext(connection) as queries:
                page = browser.get(f"/p/{project.slug}/policies/{path}")
            assert page.status_code == 200
            taken.append(len(queries))
    assert taken[:3] == taken[3:]
    assert max(taken) <= 26


def test_to_outsiders_they_do_not_exist(project: Project, charlie: Person) -> None:
    for path in ("", "default/", "default/versions/1/", "default/compare/"):
        read(charlie, project, path, status=404)


def test_the_rail_says_which_runs_are_assigned_to_it(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project, runs={"abandon_after_s": 60})
    wanted = [Assignment(match=Match(label="team:docs"), policy="docs")]
    replace_assignments(project_id=project.pk, assignments=wanted, by=alice.principal)
    assert "label team:docs assigned to this policy" in plain(
        read(alice, project, "docs/")
    )
    default = plain(read(alice, project, "default/"))
    assert "team:docs" not in default
    assert "all other runs the project’s default" in default
