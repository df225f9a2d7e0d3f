"""From what was seen in shadow: which drafts its page proposes, and exactly what they say."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force
from reviews.models import PolicyShadow
from reviews.policies.selectors import read_document
from reviews.policies.services import create_version
from tests.console.policies.test_shadow import read
from tests.gateway.calls.calls import command, tool
from tests.gateway.shadow.test_steps import REWORK, report
from tests.gateway.shadow.watching import watch
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
LIST: dict[str, Any] = {"enabled": True, "tools": ["Bash"]}
DRAFT: dict[str, Any] = {
    "continue": {"max_rework_ratio": 0.25},
    "tools": {"allowlist": LIST, "rules": {"git-push-force": "warn"}},
}


def find_page(shadow: PolicyShadow) -> str:
    return f"/p/{shadow.project.slug}/shadows/{shadow.code}/"


def look(person: Person, shadow: PolicyShadow) -> str:
    """The section of the page, as it reads."""
    page = open_browser(person.user).get(find_page(shadow)).content.decode()
    (section,) = re.findall(
        r'<section class="card" id="proposals".*?</section>', page, re.S
    )
    return read(section)


def make_draft(person: Person, shadow: PolicyShadow, *keys: str) -> PolicyVersion:
    browser = open_browser(person.user)
    answer = browser.post(f"{find_page(shadow)}draft/", {"proposal": [*keys]})
    assert answer.status_code == 302, read(answer.content.decode())
    made = PolicyVersion.objects.filter(
        project_id=shadow.project_id, name=shadow.policy.name
    ).latest("version")
    there = f"/p/{shadow.project.slug}/policies/{made.name}/versions/{made.version}/"
    assert answer["Location"] == there
    return made


def work(agent: httpx.Client) -> str:
    """Six calls of three tools that the draft does not list, two that it would only note,
    and a step that it would pause."""
    run = start_run(agent)
    report(agent, run, *REWORK)
    for name in ("Read", "Grep", "Read", "web.fetch", "Read", "Grep"):
        tool(agent, run, name)
    for text in ("git push --force", "ls", "git push --force origin main"):
        command(agent, run, text)
    return run


def test_every_kind_is_proposed_with_its_count_and_its_list(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, DRAFT)
    run = work(agent)

    said = look(alice, shadow)

    assert (
        "Add the 3 tools seen to the allowlist 6 calls would be stopped, as the tool is not "
        "on the draft’s allowlist. Grep Read web.fetch Make draft" in said
    )
    assert (
        "Leave git-push-force as it is in force 2 calls decided differently by this rule: "
        "asks a person in force, noted in the draft. Make draft" in said
    )
    assert (
        "Leave Rework limit as in force 1 decision made differently by the gate rework: "
        "30 % in force, 25 % in the draft. Make draft" in said
    )
    page = open_browser(alice.user).get(find_page(shadow)).content.decode()
    links = re.findall(r'<a class="lnk" href="([^"]*)">(\d+) (?:call|dec)', page)
    assert len(links) == 3
    for address, count in links:
        found = open_browser(alice.user).get(address.replace("&amp;", "&"))
        rows = re.findall(r'class="what"', found.content.decode())
        assert len(rows) == int(count), address
    call_command("ledger_verify", run=run)


# The version in force writes every setting out, as the project's first one does.
AS_IN_FORCE = {"continue": {"max_rework_ratio": 0.3}}
ADDED = {**LIST, "tools": ["Bash", "Grep", "Read", "web.fetch"]}
SEEN = "Seen in shadow of version 2: "


@pytest.mark.parametrize(
    ("keys", "document", "note"),
    [
        (
            ["tools"],
            {**DRAFT, "tools": {**DRAFT["tools"], "allowlist": ADDED}},
            f"{SEEN}6 calls of 3 tools not on the allowlist.",
        ),
        (
            ["rule:git-push-force"],
            {**DRAFT, "tools": {"allowlist": LIST, "rules": {}}},
            f"{SEEN}2 calls decided differently by git-push-force, left as in force.",
        ),
        (
            ["gate:rework"],
            {**AS_IN_FORCE, "tools": DRAFT["tools"]},
            f"{SEEN}1 decision made differently by rework, left as in force: Rework limit.",
        ),
        (
            ["gate:rework", "rule:git-push-force", "tools"],
            {**AS_IN_FORCE, "tools": {"allowlist": ADDED, "rules": {}}},
            f"{SEEN}6 calls of 3 tools not on the allowlist; 2 calls decided differently by "
            "git-push-force, left as in force; 1 decision made differently by rework, left as in "
            "force: Rework limit.",
        ),
    ],
)
def test_a_draft_differs_exactly_there_and_says_what_was_seen(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    keys: list[str],
    document: dict[str, Any],
    note: str,
) -> None:
    shadow = watch(project, alice, DRAFT)
    work(agent)

    made = make_draft(alice, shadow, *keys)

    assert (made.version, made.note, made.created_by) == (3, note, alice.user)
    assert read_document(made) == document
    assert read_document(shadow.version) == DRAFT
    active = find_version_in_force(project_id=project.pk, name="default")
    assert active is not None
    assert active.version == 1
    page = read(open_browser(alice.user).get(find_page(shadow)).content.decode())
    assert "Watching" in page


def test_a_star_speaks_of_one_rule_no_longer(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    """In force the rule blocks by name; the draft notes it with all of its kind."""
    strict = {"tools": {"rules": {"git-push-force": "block"}}}
    create_version(
        project_id=project.pk, name="default", document=strict, activate=True
    )
    shadow = watch(project, alice, {"tools": {"rules": {"git-*": "warn"}}})
    command(agent, start_run(agent), "git push --force")
    made = make_draft(alice, shadow, "rule:git-push-force")
    rules = read_document(made)["tools"]["rules"]
    assert rules == {"git-*": "warn", "git-push-force": "block"}


def test_a_rule_left_as_built_in_is_named_where_a_star_would_change_it(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, {"tools": {"rules": {"git-*": "warn"}}})
    command(agent, start_run(agent), "git push --force")
    made = make_draft(alice, shadow, "rule:git-push-force")
    rules = read_document(made)["tools"]["rules"]
    assert rules == {"git-*": "warn", "git-push-force": "require-confirmation"}


def test_a_tool_whose_name_is_a_star_is_never_allowed(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, DRAFT)
    run = start_run(agent)
    for name in ("Read", "*", "web*"):
        tool(agent, run, name)
    assert "Add the tool seen to the allowlist 3 calls" in look(alice, shadow)
    assert "2 names cannot be on one. Read Make draft" in look(alice, shadow)
    made = make_draft(alice, shadow, "tools")
    assert read_document(made)["tools"]["allowlist"]["tools"] == ["Bash", "Read"]
    assert made.note == (
        f"{SEEN}3 calls of 3 tools not on the allowlist, 2 of them left out."
    )


def test_where_the_draft_says_nothing_else_there_is_nothing_to_make(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    """That a default is written out in one of them makes no difference."""
    usual: dict[str, Any] = {"continue": {"repeat_limit": 3}}
    create_version(project_id=project.pk, name="default", document=usual, activate=True)
    shadow = watch(project, alice, {"continue": {"max_rework_ratio": 0.25}})
    assert "No decision differs, so nothing speaks for changing the draft." in look(
        alice, shadow
    )
    report(agent, start_run(agent), *REWORK)
    said = look(alice, shadow)
    assert "The draft changes nothing else" in said
    assert "Make draft" not in said
    there = f"{find_page(shadow)}draft/"
    answer = open_browser(alice.user).post(there, {"proposal": ["gate:rework"]})
    assert answer.status_code == 409
    assert "it would say what is in force" in read(answer.content.decode())


def test_what_comes_from_other_settings_is_left_to_the_editor(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, {"tools": {"confirm": ["Read"]}})
    tool(agent, start_run(agent), "Read")
    assert "What differs comes from other settings" in look(alice, shadow)


def test_only_a_manager_of_the_project_makes_one_and_only_of_what_is_proposed(
    agent: httpx.Client, project: Project, alice: Person, bob: Person, charlie: Person
) -> None:
    shadow = watch(project, alice, DRAFT)
    work(agent)
    versions = PolicyVersion.objects.filter(project=project)
    before = versions.count()
    there = f"{find_page(shadow)}draft/"
    said = look(bob, shadow)
    assert "Add the 3 tools seen" in said
    assert "Make draft" not in said
    assert "Draft with all" not in said
    for person, keys, status in (
        (bob, ["tools"], 404),
        (charlie, ["tools"], 404),
        (alice, [], 422),
        (alice, ["rule:rm-recursive"], 422),
        (alice, ["tools", "gate:budget"], 422),
    ):
        answer = open_browser(person.user).post(there, {"proposal": keys})
        assert answer.status_code == status, keys
    assert versions.count() == before


def test_other_shadows_say_nothing_about_this_one(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy("other", project=project)
    shadow = watch(project, alice, DRAFT)
    other = watch(project, alice, DRAFT, name="other")
    work(agent)
    run = start_run(agent, policy="other")
    tool(agent, run, "Write")
    assert "Add the tool seen to the allowlist 1 call " in look(alice, other)
    made = make_draft(alice, other, "tools")
    assert read_document(made)["tools"]["allowlist"]["tools"] == ["Bash", "Write"]
    assert "3 tools seen" in look(alice, shadow)
    versions = PolicyVersion.objects.filter(project=project, name="default")
    assert versions.count() == 2
