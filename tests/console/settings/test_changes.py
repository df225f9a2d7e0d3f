"""Who changed what, as Settings and the page of the chain's run tell it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from accounts.models import Project
from console.runs.sentences.administration import describe_change
from console.settings.changes import list_changes
from ledger.models import Run
from ledger.writer import get_writer
from reviews.administration.chain import AuditEntry, PreparedChange, perform_change
from reviews.rulings.run_control import AbortRun, AddNote
from reviews.transitions import ADMINISTRATION
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("draws entries, not SQL")

NAMED = {"name": "robo", "before": {"owner": None}, "after": {"owner": "bob"}}
KEY = {"name": "robo", "key_name": "ci", "prefix": "crk_1234"}
TOKEN = {"name": "bob", "token_name": "terminal", "prefix": "crt_1234"}
SCOPE = {"agent": None, "label": None, "run": None, "children": False}
SAID: dict[str, tuple[dict[str, Any], str]] = {
    "settings.recorded": (
        {"people": [{}], "agents": [{}, {}]},
        "began this record  1 person and 2 agents were there",
    ),
    "project.created": ({"name": "Shop"}, "created the project Shop "),
    "project.changed": (NAMED, "changed the project  owner none → bob"),
    "agent.created": (
        {"name": "<b>robo</b>", "owner": "bob"},
        "made the agent <b>robo</b> owner bob",
    ),
    "agent.changed": (NAMED, "changed the agent robo owner none → bob"),
    "key.made": (
        {**KEY, "scopes": ["evaluate"], "expires_at": None},
        "made the key robo / ci evaluate",
    ),
    "key.revoked": (KEY, "revoked the key robo / ci "),
    "person.invited": (
        {"name": "a@b.example", "role": "auditor"},
        "invited a@b.example as auditor",
    ),
    "person.joined": ({"name": "bob", "role": "reviewer"}, "added bob as reviewer"),
    "person.changed": (
        {"name": "bob", "before": {"role": "reviewer"}, "after": {"role": "manager"}},
        "made bob manager, before reviewer",
    ),
    "person.removed": (
        {"name": "bob", "role": "manager"},
        "removed bob who was manager",
    ),
    "person.invitation_withdrawn": (
        {"name": "a@b.example", "role": "auditor"},
        "took back the invitation of a@b.example ",
    ),
    "person.password_link": (
        {"name": "bob"},
        "made a link for a new password of bob ",
    ),
    "person.password_given": ({"name": "bob"}, "gave a one-time password to bob "),
    "password.rehashed": (
        {"name": "bob"},
        "signed in: their password is stored more strongly now  ",
    ),
    "password.changed": ({"name": "bob"}, "chose a new password  "),
    "sign_in.ended": (
        {"name": "bob", "browsers": ["Firefox on Linux", "Safari on Mac"]},
        "signed out in Firefox on Linux, Safari on Mac ",
    ),
    "profile.changed": (
        {"name": "bob", "changed": ["name", "time_zone"]},
        "changed their own name, time zone ",
    ),
    "token.made": (
        {**TOKEN, "expires_at": "2026-12-01T09:30:00.252095Z"},
        "made the token bob / terminal until 2026-12-01",
    ),
    "token.revoked": (TOKEN, "revoked the token bob / terminal "),
    "halt.started": (
        {"scope": {**SCOPE, "label": "team:shop"}, "reason": "Look"},
        "halted runs labelled team:shop Look",
    ),
    "halt.released": (
        {"scope": {**SCOPE, "run": "0199", "children": True}, "reason": "Fine"},
        "released the run 0199 and its children Fine",
    ),
}


@pytest.mark.parametrize("kind", sorted(SAID))
def test_every_change_has_its_words(kind: str) -> None:
    payload, words = SAID[kind]
    change = describe_change(kind, payload)
    assert change is not None
    assert f"{change.verb} {change.what} {change.more}" == words


def test_what_ended_with_a_token_is_named() -> None:
    ended = [{"token_name": name, "prefix": "crt_5678"} for name in ("ci", "")]
    change = describe_change("token.revoked", {**TOKEN, "also_ended": ended})
    assert change is not None
    assert change.more == "and what was made with it: ci, crt_5678"


def test_no_change_is_without_words() -> None:
    assert set(SAID) == set(ADMINISTRATION)
    assert describe_change("run.started", {}) is None


def rename(project: Project, text: str, by: Person | None) -> None:
    def store(at: datetime) -> None:
        Project.objects.filter(pk=project.pk).update(name=text)

    payload = {"before": {"name": "a"}, "after": {"name": text}}
    prepared = PreparedChange(
        entries=[AuditEntry("project.changed", payload)], store=store
    )
    perform_change(
        project_id=project.pk,
        by=by.principal if by else None,
        prepare=lambda: prepared,
    )


def test_changes_are_listed_with_who_did_them(
    project: Project, cleo: Person, dora: Person
) -> None:
    browser = open_browser(dora.user)
    path = f"/p/{project.slug}/settings/changes/"
    assert "Nothing was changed yet" in browser.get(path).content.decode()
    rename(project, "<i>Shop</i>", cleo)
    rename(project, "Store", None)
    page = browser.get(path).content.decode()
    newest, older = page.index("Store"), page.index("&lt;i&gt;Shop&lt;/i&gt;")
    assert newest < older
    assert cleo.user.username in page
    assert "<b>A command</b> changed the project" in page
    run = Run.objects.get(project=project, intent="system-settings")
    assert f"/p/{project.slug}/runs/{run.code}/" in page
    last = run.entries.latest("seq").position
    before = browser.get(f"{path}?before={last}").content.decode()
    assert "Shop" in before
    assert "name a → Store" not in before
    assert "Nothing older" in browser.get(f"{path}?before=1").content.decode()
    chain = browser.get(f"/p/{project.slug}/runs/{run.code}/").content.decode()
    assert "Changed the project" in chain
    assert 'data-dialog="abort"' not in chain
    assert 'data-dialog="note"' not in chain


def test_nothing_pushes_changes_out_of_sight(project: Project, cleo: Person) -> None:
    """Neither notes nor the end of a run of the chain: both may be there from before."""
    rename(project, "First", cleo)
    rename(project, "Second", cleo)
    run = str(Run.objects.get(project=project, intent="system-settings").code)
    person, writer = cleo.principal, get_writer()
    for number in range(3):
        writer.perform_now(AddNote(run_code=run, person=person, text=f"{number}"))
    writer.perform_now(AbortRun(run_code=run, person=person, reason="A slip"))
    rename(project, "Third", cleo)
    writer.perform_now(AddNote(run_code=run, person=person, text="Afterwards"))

    told, before = [], None
    while before != 0:
        page = list_changes(project_id=project.pk, before=before, limit=2)
        told += [(row.change.verb, row.change.more) for row in page.rows]
        before = page.older
    assert told == [
        ("changed the project", "name a → Third"),
        ("changed the project", "name a → Second"),
        ("changed the project", "name a → First"),
        ("began this record", told[-1][1]),
    ]


def test_reviewers_have_no_settings_of_the_project(
    project: Project, bob: Person, dora: Person
) -> None:
    path = f"/p/{project.slug}/settings/changes/"
    assert open_browser(bob.user).get(path).status_code == 404
    opened = open_browser(dora.user).get(f"/p/{project.slug}/settings/")
    assert opened.status_code == 302
