"""What is done to a project and the entry that tells of it: one commit, one chain."""

from __future__ import annotations

import itertools
import json
from datetime import datetime
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Agent, Project
from common.errors import Forbidden, Invalid
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from ledger.writer import get_writer
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.rulings.run_control import AbortRun
from reviews.services import submit_note
from tests.support.builders import Person, Robot, make_robot
from tests.support.problems import problem
from tests.support.threads import at_once


def describe(project: Project, by: Person | None, text: str) -> str:
    """Give the project another name, as an act."""

    def prepare() -> PreparedChange[str]:
        before = Project.objects.get(pk=project.pk).name

        def store(at: datetime) -> str:
            Project.objects.filter(pk=project.pk).update(name=text)
            if text == "broken":
                raise Invalid("It was not stored.")
            return before

        changed = build_difference({"name": before}, {"name": text})
        return PreparedChange(
            entries=[AuditEntry("project.changed", changed)], store=store
        )

    person = by.principal if by else None
    return perform_change(project_id=project.pk, by=person, prepare=prepare)


def list_entries(project: Project) -> list[tuple[str, str, dict[str, Any]]]:
    (run,) = Run.objects.filter(project=project, intent="system-settings")
    entries = run.entries.order_by("seq").values_list("type", "actor", "payload")
    return [(kind, actor, json.loads(payload)) for kind, actor, payload in entries]


def test_a_change_is_an_entry_of_a_chain_that_verifies(
    project: Project, alice: Person, robo: Robot, auditor: httpx.Client
) -> None:
    before = project.name
    assert describe(project, alice, "First") == before
    assert describe(project, None, "Second") == "First"
    started, recorded, first, second = list_entries(project)
    assert started[0] == "run.started"
    assert recorded[:2] == ("settings.recorded", "system:system-settings")
    names = {each["name"]: each["role"] for each in recorded[2]["people"]}
    assert names[alice.user.username] == "manager"
    assert [each["name"] for each in recorded[2]["agents"]] == ["robo"]
    assert first[:2] == ("project.changed", alice.principal.actor)
    assert first[2] == {"before": {"name": before}, "after": {"name": "First"}}
    assert second[1] == "system:system-settings"

    (own,) = auditor.get("/runs?agent=system-settings").json()["items"]
    assert auditor.get("/runs").json()["items"] == []
    assert auditor.get(f"/runs/{own['id']}/verify").json()["ok"] is True
    assert len(auditor.get(f"/runs/{own['id']}/ledger").text.splitlines()) == 4
    run = Run.objects.get(code=own["id"])
    assert verify_run(run).ok
    assert replay_run(run).difference is None
    call_command("ledger_verify", run=own["id"])


def test_what_is_refused_while_it_is_stored_leaves_neither_row_nor_entry(
    project: Project, alice: Person
) -> None:
    describe(project, alice, "First")
    entries = list_entries(project)
    with pytest.raises(Invalid):
        describe(project, alice, "broken")
    assert Project.objects.get(pk=project.pk).name == "First"
    assert list_entries(project) == entries


def test_of_those_who_change_at_once_each_sees_what_the_one_before_left(
    project: Project, alice: Person
) -> None:
    texts = [f"Name {number}" for number in range(4)]
    at_once(*(lambda text=text: describe(project, alice, text) for text in texts))
    changes = [payload for kind, _, payload in list_entries(project)[2:]]
    assert len(changes) == 4
    for earlier, later in itertools.pairwise(changes):
        assert later["before"] == earlier["after"]


def test_nobody_aborts_it_or_writes_notes_between_its_changes(
    project: Project, alice: Person, cleo: Person, admin: httpx.Client
) -> None:
    describe(project, alice, "First")
    before = list_entries(project)
    run = Run.objects.get(project=project, intent="system-settings")
    refused = admin.post(f"/runs/{run.code}/abort", json={"reason": "A slip"})
    assert "who changed what" in problem(refused, "forbidden")["detail"]
    with pytest.raises(Forbidden, match="who changed what"):
        submit_note(run_code=str(run.code), person=cleo.principal, text="Look away")
    assert list_entries(project) == before


def test_after_a_run_has_ended_the_chain_goes_on_in_another_one(
    project: Project, alice: Person, manager: httpx.Client
) -> None:
    describe(project, alice, "First")
    (first,) = manager.get("/runs?agent=system-settings").json()["items"]
    get_writer().perform_now(
        AbortRun(run_code=first["id"], person=alice.principal, reason="")
    )
    describe(project, alice, "Second")
    second, _ = manager.get("/runs?agent=system-settings").json()["items"]
    assert second["head"]["seq"] == 2
    parent = Run.objects.get(code=second["id"]).parent
    assert parent is not None
    assert str(parent.code) == first["id"]


def test_the_servers_own_agent_gets_no_key(project: Project) -> None:
    with pytest.raises(Invalid, match="server's own agent"):
        make_robot("system-settings", project=project)
    assert not Agent.objects.filter(project=project, name="system-settings").exists()
