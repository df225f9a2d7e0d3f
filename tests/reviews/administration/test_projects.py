"""A project's own settings, and another project."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import httpx
from django.utils import timezone

from accounts.models import Membership, Project
from ledger.models import Entry, LedgerExport, Run
from ledger.verification import retention
from ledger.verification.retention import delete_old_exports
from reviews.policies.assignments import replace_assignments
from tests.reviews.administration.entries import list_changes
from tests.support.builders import Person, make_policy, start_run, unique
from tests.support.live import Live
from tests.support.problems import problem


def test_a_change_is_seen_and_stands_in_the_chain(
    admin: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    before = admin.get("/project").json()
    assert (before["slug"], before["role"]) == (project.slug, "admin")
    changed = admin.patch("/project", json={"name": "Shop"})
    assert changed.json() == before | {"name": "Shop"}
    assert reviewer.get("/project").json()["name"] == "Shop"
    ((kind, _, payload),) = list_changes(project)
    assert kind == "project.changed"
    assert payload == {"before": {"name": before["name"]}, "after": {"name": "Shop"}}
    problem(admin.patch("/project", json={"name": "Shop"}), "unchanged")
    problem(admin.patch("/project", json={"name": ""}), "invalid")
    problem(admin.patch("/project", json={"slug": "other"}), "invalid")


def test_retention_ends_the_list_of_exports_and_nothing_of_the_ledger(
    admin: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    run, at = start_run(agent), timezone.now()
    rows = LedgerExport.objects.filter(project=project)
    for days in (400, 91, 89):
        admin.get(f"/runs/{run}/ledger")
        rows.filter(pk=rows.latest("pk").pk).update(at=at - timedelta(days=days))
    entries = Entry.objects.filter(project=project).order_by("pk")
    before = list(entries.values_list("pk", "hash"))

    delete_old_exports(at)
    assert rows.count() == 3
    assert admin.patch("/project", json={"retention_days": 90}).status_code == 200
    with patch.object(retention, "AT_ONCE", 1):
        delete_old_exports(at)
    assert [at - row.at for row in rows] == [timedelta(days=89)]
    assert list(entries.values_list("pk", "hash"))[: len(before)] == before
    assert admin.get(f"/runs/{run}/verify").json()["ok"]

    forever = admin.patch("/project", json={"retention_days": None, "name": None})
    assert (forever.status_code, forever.json()["retention_days"]) == (200, None)
    delete_old_exports(at + timedelta(days=4_000))
    assert rows.exists()
    for wrong in (29, 3_651, "90", 90.0):
        problem(admin.patch("/project", json={"retention_days": wrong}), "invalid")
    said = [payload["after"] for _, _, payload in list_changes(project)]
    assert said == [{"retention_days": 90}, {"retention_days": None}]


def test_runs_that_no_assignment_takes_get_the_default_policy(
    admin: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    make_policy("strict", project=project)
    Project.objects.filter(pk=project.pk).update(agents_choose_policy=False)
    wanted = {"default_policy": "strict"}
    assert admin.patch("/project", json=wanted).json()["default_policy"] == "strict"
    run = agent.get(f"/runs/{start_run(agent)}").json()
    assert run["policy"]["name"] == "strict"
    named = agent.get(f"/runs/{start_run(agent, policy='default')}").json()
    assert named["policy"]["name"] == "strict"  # `default` is no wish
    refused = admin.patch("/project", json={"default_policy": "absent"})
    assert problem(refused, "invalid")["errors"][0]["loc"] == ["default_policy"]


def test_whether_agents_choose_stands_in_the_chain_of_the_policies(
    admin: httpx.Client, cleo: Person, project: Project
) -> None:
    for choose in (True, False):
        replace_assignments(project_id=project.pk, agents_choose=choose)
    wanted = {"agents_choose_policy": True, "name": "Shop"}
    changed = admin.patch("/project", json=wanted).json()
    assert (changed["agents_choose_policy"], changed["name"]) == (True, "Shop")
    ((_, _, payload),) = list_changes(project)
    assert payload["after"] == {"name": "Shop"}
    (run,) = Run.objects.filter(project=project, intent="system-policies")
    last = run.entries.latest("seq")
    assert (last.type, last.actor) == ("policy.assigned", cleo.principal.actor)
    verified = admin.get(f"/runs/{run.code}/verify").json()
    assert verified["ok"], verified["reason"]

    problem(admin.patch("/project", json=wanted), "unchanged")
    problem(admin.patch("/project", json={"agents_choose_policy": True}), "unchanged")
    alone = admin.patch("/project", json=wanted | {"agents_choose_policy": False})
    assert alone.json()["agents_choose_policy"] is False
    refused = {"agents_choose_policy": True, "default_policy": "absent"}
    problem(admin.patch("/project", json=refused), "invalid")
    assert admin.get("/project").json()["agents_choose_policy"] is False
    assert admin.get(f"/runs/{run.code}/verify").json()["ok"]


def test_an_admin_makes_another_project_and_is_its_admin(
    admin: httpx.Client, cleo: Person, live: Live
) -> None:
    slug = unique("another")
    made = admin.post("/projects", json={"name": "Another", "slug": slug})
    assert (made.status_code, made.json()["role"]) == (201, "admin")
    project = Project.objects.get(slug=slug)
    assert Membership.objects.get(project=project).user == cleo.user
    assert list_changes(project) == [
        ("project.created", cleo.principal.actor, {"name": "Another", "slug": slug})
    ]
    again = admin.post("/projects", json={"name": "Another", "slug": slug})
    assert problem(again, "invalid")["errors"][0]["loc"] == ["slug"]
    for wrong in ("Two Words", "-a", "a--b", "a\n", ""):
        body = {"name": "x", "slug": wrong}
        problem(admin.post("/projects", json=body), "invalid")
    assert admin.get(f"/project?project={slug}").json()["name"] == "Another"
