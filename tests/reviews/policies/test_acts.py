"""A version is stored, put in force and restored: each is an act in the ledger."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from common.errors import Forbidden, Invalid, NotFound, StaleVersion, Unchanged
from guidance.models import Policy, PolicyActivation, PolicyVersion
from guidance.services import get_policy_in_force
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from reviews.policies.selectors import (
    find_document_in_force,
    get_version,
    list_activations,
    list_policies,
    list_versions,
)
from reviews.policies.services import activate_version, create_version
from reviews.services import submit_note
from tests.support.builders import Person, make_project, start_run
from tests.support.problems import problem
from tests.support.threads import at_once

ONE: dict[str, Any] = {"checks": {"max_resets": 1}}
TWO: dict[str, Any] = {"checks": {"max_resets": 2}}


def store(project: Project, document: dict[str, Any], **more: Any) -> int:
    more.setdefault("name", "own")
    made = create_version(project_id=project.pk, document=document, **more)
    return made.version.version


def activate(project: Project, number: int, **more: Any) -> None:
    activate_version(project_id=project.pk, name="own", number=number, **more)


def get_version_in_force(project: Project, name: str = "own") -> int:
    return get_policy_in_force(project_id=project.pk, name=name).version


def list_entries(project: Project) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, actor and payload of the chain of a project's policies."""
    (run,) = Run.objects.filter(project=project, intent="system-policies")
    entries = run.entries.order_by("seq").values_list("type", "actor", "payload")
    return [(kind, actor, json.loads(payload)) for kind, actor, payload in entries]


def test_a_draft_binds_nobody_until_it_is_activated(
    project: Project, alice: Person
) -> None:
    assert store(project, ONE, note="A first try", author=alice.principal) == 1
    with pytest.raises(Invalid, match="no policy named 'own'"):
        get_version_in_force(project)
    activate(project, 1, note="It looks right", by=alice.principal)
    assert get_version_in_force(project) == 1
    assert store(project, TWO) == 2
    assert get_version_in_force(project) == 1
    row = PolicyVersion.objects.get(project=project, name="own", version=1)
    assert (row.note, row.created_by) == ("A first try", alice.user)


def test_restoring_a_version_is_activating_it(project: Project, alice: Person) -> None:
    store(project, ONE, activate=True)
    store(project, TWO, activate=True, note="Be more patient")
    activate(project, 1, note="Too patient", by=alice.principal)
    assert get_version_in_force(project) == 1
    acts = PolicyActivation.objects.filter(policy__project=project, policy__name="own")
    told = [
        (act.before and act.before.version, act.version.version, act.note, act.by)
        for act in acts.order_by("pk")
    ]
    assert told == [
        (None, 1, "", None),
        (1, 2, "Be more patient", None),
        (2, 1, "Too patient", alice.user),
    ]


def test_the_list_has_each_policy_of_the_project_and_the_default_first(
    project: Project,
) -> None:
    elsewhere = make_project()
    three: dict[str, Any] = {"checks": {"max_resets": 3}}
    store(project, ONE, name="zulu", activate=True)
    store(project, ONE, name="mike")
    for place in (project, elsewhere):
        for document, note in ((ONE, "First"), (TWO, "Second")):
            store(place, document, name="alpha", activate=True, note=note)
        store(place, three, name="alpha")
    store(elsewhere, ONE, name="theirs", activate=True)
    activate_version(project_id=elsewhere.pk, name="alpha", number=3)

    listed = [
        (
            each.policy.name,
            each.versions,
            each.active and each.active.version,
            each.activation and each.activation.note,
        )
        for each in list_policies(project)
    ]
    assert listed[1:] == [
        ("alpha", 3, 2, "Second"),
        ("mike", 1, None, None),
        ("zulu", 1, 1, ""),
    ]
    assert listed[0][:3] == ("default", 1, 1)
    assert [each.version for each in list_versions(project, "alpha")] == [3, 2, 1]
    acts = list_activations(project, "alpha")
    assert [each.version.version for each in acts] == [2, 1]
    assert list(list_activations(project, "mike")) == []
    found = get_version(project, "alpha", 2)
    assert (found.project, found.name, found.version) == (project, "alpha", 2)
    assert find_document_in_force(project, "alpha") == TWO
    assert find_document_in_force(project, "mike") == {}
    for name, number in (("mike", 2), ("theirs", 1), ("alpha", 4)):
        with pytest.raises(NotFound):
            get_version(project, name, number)
    with pytest.raises(NotFound):
        list_versions(project, "theirs")


def test_what_would_change_nothing_is_refused(project: Project) -> None:
    store(project, ONE, activate=True)
    with pytest.raises(Unchanged, match="nothing would change"):
        store(project, ONE)
    store(project, TWO)
    with pytest.raises(Unchanged, match="and is not in force: activate it"):
        store(project, TWO, activate=True)
    with pytest.raises(Unchanged, match="nothing would change"):
        store(project, ONE)
    with pytest.raises(Unchanged, match="in force already"):
        activate(project, 1)
    with pytest.raises(NotFound):
        activate(project, 3)
    activate(project, 2)
    # What was in force before may be written down again.
    assert store(project, ONE) == 3


def test_all_faults_are_named_and_nothing_is_stored(project: Project) -> None:
    wrong = {"checks": {"max_resets": -1, "x": 1}, "y": 2, "continue": []}
    with pytest.raises(Invalid, match="4 faults") as refused:
        store(project, wrong, activate=True)
    assert len(refused.value.errors) == 4
    assert not Policy.objects.filter(project=project).exists()


def test_of_two_managers_the_second_is_told_that_it_moved(project: Project) -> None:
    store(project, ONE, activate=True)
    store(project, TWO)
    store(project, {"checks": {"max_resets": 3}})
    acts = [partial(activate, project, number, based_on=1) for number in (2, 3)]
    answers = at_once(*(partial(attempt, act) for act in acts))
    (refused,) = [answer for answer in answers if answer is not None]
    assert isinstance(refused, StaleVersion)
    in_force = get_version_in_force(project)
    assert refused.extra["in_force"] == {"name": "own", "version": in_force}
    (*_, last) = list_entries(project)
    assert (last[0], last[2]["version"]) == ("policy.activated", in_force)


def test_two_who_activate_the_same_version_do_it_once(project: Project) -> None:
    store(project, ONE, activate=True)
    store(project, TWO)
    act = partial(attempt, partial(activate, project, 2))
    answers = at_once(act, act, act, act)
    assert sorted(map(str, map(type, answers))) == sorted(
        [str(type(None)), *[str(Unchanged)] * 3]
    )
    acts = PolicyActivation.objects.filter(policy__project=project, policy__name="own")
    assert acts.count() == 2


def test_versions_stored_at_once_have_a_number_each(project: Project) -> None:
    documents = [{"checks": {"max_resets": number}} for number in range(5)]
    numbers = at_once(*(partial(store, project, each) for each in documents))
    assert sorted(numbers) == [1, 2, 3, 4, 5]


def attempt(act: partial[None]) -> Exception | None:
    try:
        act()
    except Exception as error:
        return error
    return None


def test_the_life_of_policies_is_a_chain_that_verifies(
    project: Project, alice: Person, reviewer: httpx.Client, agent: httpx.Client
) -> None:
    work = start_run(agent)
    version = store(
        project, ONE, name="default", author=alice.principal, note="Try", activate=True
    )
    assert version == 2  # the first came with Checkrail
    shipped, mine = PolicyVersion.objects.filter(project=project).order_by("pk")
    started, recorded, stored, activated = list_entries(project)
    assert started[0] == "run.started"
    assert recorded[:2] == ("policy.recorded", "system:system-policies")
    first = {"name": "default", "version": 1, "hash": shipped.hash}
    assert recorded[2] == {
        "versions": [{**first, "active": True}],
        "assignments": [],
        "agents_choose": False,
    }
    named = {"name": "default", "version": 2, "hash": mine.hash, "note": "Try"}
    actor = alice.principal.actor
    assert stored == ("policy.stored", actor, named)
    more = {"before": 1, "apply_to_running": False}
    assert activated == ("policy.activated", actor, {**named, **more})

    (own,) = reviewer.get("/runs?agent=system-policies").json()["items"]
    assert [run["id"] for run in reviewer.get("/runs").json()["items"]] == [work]
    assert reviewer.get(f"/runs/{own['id']}/verify").json()["ok"] is True
    exported = reviewer.get(f"/runs/{own['id']}/ledger").text.splitlines()
    assert len(exported) == 4
    run = Run.objects.get(code=own["id"])
    assert verify_run(run).ok
    assert replay_run(run).difference is None
    call_command("ledger_verify", run=own["id"])


def test_after_an_abort_the_chain_goes_on_in_another_run(
    project: Project, reviewer: httpx.Client, manager: httpx.Client, bob: Person
) -> None:
    store(project, ONE)
    (first,) = reviewer.get("/runs?agent=system-policies").json()["items"]
    path = f"/runs/{first['id']}/abort"
    refused = reviewer.post(path, json={"reason": "A slip"})
    assert "Managers" in problem(refused, "forbidden")["detail"]
    with pytest.raises(Forbidden):
        submit_note(run_code=first["id"], person=bob.principal, text="Look away")
    assert reviewer.get(f"/runs/{first['id']}").json()["head"] == first["head"]
    manager.post(path, json={"reason": "A slip"})
    store(project, TWO)
    second, _ = reviewer.get("/runs?agent=system-policies").json()["items"]
    assert second["status"] == "running"
    assert second["head"]["seq"] == 2
    parent = Run.objects.get(code=second["id"]).parent
    assert parent is not None
    assert str(parent.code) == first["id"]


@pytest.mark.parametrize("name", ["default", "own"])
def test_what_is_in_force_is_one_short_query(project: Project, name: str) -> None:
    """When a run begins; the version itself is loaded once in a process."""
    store(project, ONE, name=name, activate=True)
    get_policy_in_force(project_id=project.pk, name=name)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        get_policy_in_force(project_id=project.pk, name=name)
    (query,) = asked.captured_queries
    assert "document" not in query["sql"]
