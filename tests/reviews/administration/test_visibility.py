"""Who changed what is for managers, admins and auditors: to reviewers the chain is not there."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.auth import find_principal
from accounts.models import Membership, Project, Role
from common.ids import uuid7
from ledger.models import Run
from ledger.writer import get_writer
from reviews.open_access import (
    NO_PROJECT,
    Access,
    KeyAccess,
    SessionAccess,
    get_session_access,
    list_refused,
    list_refused_sessions,
)
from reviews.rulings.run_control import AbortRun
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_project
from tests.support.problems import problem

LIST = "/runs?agent=system-settings"


@pytest.fixture
def chain(project: Project, admin: httpx.Client) -> Run:
    admin.patch("/project", json={"name": "Shop"})
    return Run.objects.get(project=project, intent="system-settings")


def test_the_api_shows_it_to_those_who_see_all(
    chain: Run,
    reviewer: httpx.Client,
    manager: httpx.Client,
    auditor: httpx.Client,
    bob: Person,
) -> None:
    # Who sees all in another project sees no more in this one.
    Membership.objects.create(user=bob.user, project=make_project(), role=Role.ADMIN)
    for client in (manager, auditor):
        (item,) = client.get(LIST).json()["items"]
        assert item["id"] == str(chain.code)
        assert str(chain.code) in client.get("/runs.csv?agent=system-settings").text
    assert reviewer.get(LIST).json()["items"] == []
    assert reviewer.get(f"{LIST}&sort=-cost").json()["items"] == []
    assert str(chain.code) not in reviewer.get("/runs.csv?agent=system-settings").text
    for part in ("", "/ledger", "/verify", "/decision"):
        path = f"/runs/{chain.code}{part}"
        assert manager.get(path).status_code == 200, part
        problem(reviewer.get(path), "not-found")
    problem(reviewer.get(f"/runs/{chain.code}/events"), "not-found")
    problem(reviewer.post(f"/runs/{chain.code}/abort", json={}), "not-found")
    answers = [
        reviewer.get(f"/runs?parent={parent}&agent=system-settings")
        for parent in (chain.code, uuid7())
    ]
    assert answers[0].json() == answers[1].json()


def test_no_agent_learns_of_it_by_naming_it_as_its_parent(
    chain: Run, agent: httpx.Client
) -> None:
    for parent in (chain.code, uuid7()):
        body = {"task": "t", "parent_run": str(parent)}
        problem(agent.post("/runs", json=body), "invalid")
        assert agent.get(f"/runs?parent={parent}").json()["items"] == []


def test_what_goes_on_from_it_is_not_found_by_it(
    chain: Run, reviewer: httpx.Client, admin: httpx.Client, alice: Person
) -> None:
    """The next run of the chain names the one before it as its parent."""
    get_writer().perform_now(
        AbortRun(run_code=str(chain.code), person=alice.principal, reason="")
    )
    admin.patch("/project", json={"name": "Other"})
    for query in (f"parent={chain.code}", f"parent={chain.code}&agent=system-settings"):
        assert reviewer.get(f"/runs?{query}").json()["items"] == []


@pytest.mark.once("looks at pages, whatever database is behind them")
def test_the_console_shows_it_to_those_who_see_all(
    chain: Run, project: Project, bob: Person, alice: Person
) -> None:
    reviewer, manager = open_browser(bob.user), open_browser(alice.user)
    runs = f"/p/{project.slug}/runs/"
    listed = f"{runs}?q=agent:system-settings"
    assert str(chain.code) in manager.get(listed).content.decode()
    assert str(chain.code) not in reviewer.get(listed).content.decode()
    for path in (
        f"{runs}{chain.code}/",
        f"{runs}{chain.code}/calls/",
        f"{runs}{chain.code}/entries/3/",
        f"{runs}{chain.code}/verify/",
        f"{runs}compare/?a={chain.code}&b=median",
        f"/p/{project.slug}/ledger/?run={chain.code}",
    ):
        assert manager.get(path).status_code == 200, path
        assert reviewer.get(path).status_code == 404, path
    for act in ("replay", "note"):
        assert reviewer.post(f"{runs}{chain.code}/{act}/").status_code == 404, act
    # For managers, whichever run it is.
    for code in (chain.code, uuid7()):
        assert reviewer.post(f"{runs}{code}/reopen/").status_code == 403


def test_what_is_open_on_it_closes_for_who_sees_all_no_longer(
    chain: Run, project: Project, alice: Person, bob: Person
) -> None:
    later = timezone.now() + timedelta(hours=1)
    key = Session.objects.create(session_key=uuid4().hex, expire_date=later).pk

    def open_socket(person: Person, run: Run | None) -> SessionAccess | None:
        code = run.code if run else None
        return get_session_access(
            user=person.user, slug=project.slug, session_key=key, run=code
        )

    assert open_socket(bob, chain) is None
    assert open_socket(bob, None) is not None
    on_chain, elsewhere = open_socket(alice, chain), open_socket(alice, None)
    assert on_chain is not None
    assert elsewhere is not None
    principal = find_principal(alice.token)
    assert principal is not None
    stream, other = (
        KeyAccess(principal=principal, project_id=project.pk, needs_sight=needs)
        for needs in (True, False)
    )
    readers: list[Access] = [on_chain, elsewhere, stream, other]
    assert list_refused(readers) == set()
    Membership.objects.filter(user=alice.user).update(role=Role.REVIEWER)
    assert list_refused(readers) == {on_chain, stream}
    assert list_refused_sessions([on_chain]) == {on_chain: NO_PROJECT}
