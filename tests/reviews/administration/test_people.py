"""Who is in a project: seen, given a role, let go, each in the chain of the project."""

from __future__ import annotations

import httpx

from accounts.models import Agent, Membership, Project, Role
from accounts.services import issue_agent_key
from ledger.models import Run
from ledger.verification.verify import verify_run
from tests.reviews.administration.entries import list_changes
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_person, make_project
from tests.support.live import Live
from tests.support.problems import problem


def test_managers_see_everybody_and_reviewers_themselves(
    admin: httpx.Client,
    manager: httpx.Client,
    auditor: httpx.Client,
    reviewer: httpx.Client,
    bob: Person,
) -> None:
    for client in (admin, manager, auditor):
        found = client.get("/people").json()["items"]
        assert [each["role"] for each in found] == [
            *("manager", "reviewer", "admin", "auditor")
        ]
        assert [each["you"] for each in found].count(True) == 1
    (own,) = reviewer.get("/people").json()["items"]
    assert (own["id"], own["role"], own["you"]) == (
        str(bob.user.code),
        "reviewer",
        True,
    )


def test_a_new_role_counts_at_once_and_stands_in_the_chain(
    admin: httpx.Client, project: Project, cleo: Person, bob: Person, live: Live
) -> None:
    path = f"/people/{bob.user.code}"
    changed = admin.patch(path, json={"role": "manager"})
    assert (changed.status_code, changed.json()["role"]) == (200, "manager")
    with httpx.Client(base_url=live.api, headers=bob.headers) as client:
        assert len(client.get("/people").json()["items"]) == 2
    assert list_changes(project) == [
        (
            "person.changed",
            cleo.principal.actor,
            {
                "person": str(bob.user.code),
                "name": bob.user.username,
                "before": {"role": "reviewer"},
                "after": {"role": "manager"},
            },
        )
    ]
    problem(admin.patch(path, json={"role": "manager"}), "unchanged")
    problem(admin.patch(path, json={"role": "king"}), "invalid")
    (run,) = Run.objects.filter(project=project, intent="system-settings")
    assert verify_run(run).ok


def test_the_last_admin_stays_admin(
    admin: httpx.Client, project: Project, cleo: Person
) -> None:
    path = f"/people/{cleo.user.code}"
    for refused in (admin.patch(path, json={"role": "manager"}), admin.delete(path)):
        assert "last admin" in problem(refused, "invalid")["detail"]
    second = make_person("second", role=Role.ADMIN, project=project)
    assert admin.patch(path, json={"role": "manager"}).status_code == 200
    assert Membership.objects.get(project=project, role=Role.ADMIN).user == second.user


def test_whoever_is_removed_is_out_at_once(
    admin: httpx.Client, project: Project, bob: Person, live: Live
) -> None:
    issue_agent_key(name="robo", project_slug=project.slug, owner=bob.user)
    browser = open_browser(bob.user)
    queue = f"/p/{project.slug}/queue/"
    assert browser.get(queue).status_code == 200
    with httpx.Client(base_url=live.api, headers=bob.headers) as client:
        assert client.get("/people").status_code == 200
        assert admin.delete(f"/people/{bob.user.code}").status_code == 204
        assert client.get("/people").status_code == 401
    assert browser.get(queue).status_code != 200
    assert Agent.objects.get(project=project, name="robo").owner is None
    ((_, _, payload),) = list_changes(project)
    assert payload["agents"] == ["robo"]
    problem(admin.delete(f"/people/{bob.user.code}"), "not-found")


def test_in_other_projects_they_stay(
    admin: httpx.Client, project: Project, bob: Person, live: Live
) -> None:
    other = make_project()
    Membership.objects.create(project=other, user=bob.user, role=Role.REVIEWER)
    browser = open_browser(bob.user)
    assert admin.delete(f"/people/{bob.user.code}").status_code == 204
    assert browser.get(f"/p/{project.slug}/queue/").status_code == 404
    assert browser.get(f"/p/{other.slug}/queue/").status_code == 200
    with httpx.Client(base_url=live.api, headers=bob.headers) as client:
        assert client.get(f"/people?project={project.slug}").status_code == 404
        assert client.get("/people").status_code == 200
