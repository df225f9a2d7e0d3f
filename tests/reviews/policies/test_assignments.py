"""Which policy a run is judged by: assignments first, an agent's wish where it may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from common.errors import StaleVersion
from guidance.core.policy.assignments import Assignment, Match, RunFacts
from guidance.models import Policy, PolicyAssignment
from guidance.selectors import load_policy_choice
from guidance.services import choose_policy
from ledger.models import Run
from ledger.verification.row_checks import compare_runs
from reviews.policies import assignments
from reviews.policies.assignments import replace_assignments
from reviews.policies.services import create_version
from tests.conftest import client_for
from tests.support.builders import make_project, make_robot, start_run
from tests.support.live import Live
from tests.support.problems import problem

PATH = "/policies/assignments"


@pytest.fixture(autouse=True)
def policies(project: Project, agent: httpx.Client) -> None:
    for number, name in enumerate(("strict", "loose")):
        create_version(
            project_id=project.pk,
            name=name,
            document={"checks": {"max_resets": number}},
            activate=True,
        )


def assign(manager: httpx.Client, *rows: tuple[dict[str, str], str]) -> httpx.Response:
    body = [{"match": match, "policy": policy} for match, policy in rows]
    return manager.put(PATH, json=body)


def get_policy_name(agent: httpx.Client, **more: Any) -> str:
    run = agent.get(f"/runs/{start_run(agent, **more)}").json()
    name: str = run["policy"]["name"]
    return name


def test_the_first_that_fits_wins_else_the_default(
    manager: httpx.Client, agent: httpx.Client
) -> None:
    answer = assign(
        manager,
        ({"label": "repo:shop", "intent": "deployment"}, "strict"),
        ({"label": "repo:shop"}, "loose"),
        ({"model": "big-*"}, "strict"),
        ({"agent": "robo", "intent": "docs"}, "loose"),
    )
    assert answer.status_code == 200, answer.text
    assert manager.get(PATH).json() == answer.json()
    shop = {"labels": {"repo": "shop"}}
    assert get_policy_name(agent, **shop, intent="deployment") == "strict"
    assert get_policy_name(agent, **shop) == "loose"
    assert get_policy_name(agent, **shop, model="big-1") == "loose"
    assert get_policy_name(agent, labels={"repo": "other"}) == "default"
    assert get_policy_name(agent, model="big-1") == "strict"
    assert get_policy_name(agent, model="bigger") == "default"
    assert get_policy_name(agent, intent="docs") == "loose"
    assert get_policy_name(agent) == "default"
    # The whole list is replaced.
    assert assign(manager).json() == []
    assert get_policy_name(agent, intent="docs") == "default"


def test_an_agents_wish_counts_only_where_agents_may_choose(
    manager: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    assign(manager, ({"intent": "docs"}, "strict"))
    body = {"task": "t", "policy": "loose", "intent": "docs"}
    told = problem(agent.post("/runs", json=body), "invalid")
    assert "This run may name: default, strict." in told["detail"]
    assert told["errors"] == [{"loc": ["policy"], "message": "one of: default, strict"}]
    told = problem(agent.post("/runs", json={"task": "t", "policy": "x"}), "invalid")
    assert "This run may name: default." in told["detail"]
    # What it gets anyway may be named; the default is no wish.
    assert get_policy_name(agent, policy="strict", intent="docs") == "strict"
    assert get_policy_name(agent, policy="default", intent="docs") == "strict"
    replace_assignments(project_id=project.pk, agents_choose=True)
    assert get_policy_name(agent, policy="loose", intent="docs") == "loose"
    assert get_policy_name(agent, intent="docs") == "strict"
    told = problem(agent.post("/runs", json={"task": "t", "policy": "x"}), "invalid")
    assert "A run may name: default, loose, strict." in told["detail"]


def test_everything_that_is_wrong_is_named_and_nothing_stored(
    manager: httpx.Client,
) -> None:
    assign(manager, ({"intent": "docs"}, "strict"))
    before = manager.get(PATH).json()
    told = problem(
        assign(
            manager,
            ({}, "strict"),
            ({"agent": "nobody", "label": "x"}, "unknown"),
        ),
        "invalid",
    )
    assert [each["loc"] for each in told["errors"]] == [
        [0, "match"],
        [1, "match", "agent"],
        [1, "match", "label"],
        [1, "policy"],
    ]
    problem(assign(manager, ({"intent": "fun"}, "strict")), "invalid")
    problem(manager.put(PATH, json=[{"match": {"who": "x"}, "policy": "a"}]), "invalid")
    problem(manager.put(PATH, json={}), "invalid")
    problem(assign(manager, *[({"intent": "docs"}, "strict")] * 201), "invalid")
    assert manager.get(PATH).json() == before


def test_a_preview_says_which_runs_each_would_have_taken(
    manager: httpx.Client, agent: httpx.Client
) -> None:
    docs = [start_run(agent, intent="docs") for _ in range(2)]
    both = start_run(agent, intent="docs", labels={"repo": "shop"})
    start_run(agent)
    body = [
        {"match": {"label": "repo:shop"}, "policy": "strict"},
        {"match": {"intent": "docs"}, "policy": "loose"},
        {"match": {"intent": "testing"}, "policy": "loose"},
    ]
    answer = manager.put(f"{PATH}?preview=true", json=body)
    first, second, third = (each["last_week"] for each in answer.json())
    assert (first["runs"], second["runs"], third["runs"]) == (1, 2, 0)
    assert [each["id"] for each in first["examples"]] == [both]
    assert {each["id"] for each in second["examples"]} == set(docs)
    assert manager.get(PATH).json() == []  # nothing was stored
    manager.put(PATH, json=body)
    assert manager.get(f"{PATH}?preview=true").json() == answer.json()


def test_a_preview_looks_at_the_newest_runs_of_the_last_week(
    live: Live,
    manager: httpx.Client,
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not at older ones, at those of other projects, nor at the server's own."""
    for days in (8, 6):
        for intent in ("docs", "testing"):
            old = Run.objects.filter(code=start_run(agent, intent=intent))
            old.update(created_at=timezone.now() - timedelta(days=days))
    docs = [start_run(agent, intent="docs") for _ in range(6)]
    with client_for(live, make_robot(project=make_project())) as neighbour:
        start_run(neighbour, intent="docs")
    rows = [({"intent": "docs"}, "strict"), ({"model": "big"}, "loose")]
    wanted = [Assignment(match=Match(**match), policy=name) for match, name in rows]

    (week, none), left = assignments.list_taken_runs(project.pk, wanted)
    assert (week["runs"], none["runs"], left) == (7, 0, 1)
    assert [each["id"] for each in week["examples"]] == docs[:0:-1]
    assert none["examples"] == []
    docs += [start_run(agent, intent="docs") for _ in range(2)]
    monkeypatch.setattr(assignments, "PREVIEW_RUNS", 8)
    (week, _), left = assignments.list_taken_runs(project.pk, wanted)
    assert (week["runs"], left) == (8, 0), "no more than so many are looked at"
    assert [each["id"] for each in week["examples"]] == docs[:2:-1]


def test_what_is_left_out_stays_and_no_other_project_is_changed(
    live: Live, manager: httpx.Client, project: Project
) -> None:
    elsewhere = make_project()
    docs = [Assignment(match=Match(intent="docs"), policy="strict")]
    tests = [Assignment(match=Match(intent="testing"), policy="loose")]
    for name in ("strict", "loose", "theirs"):
        create_version(
            project_id=elsewhere.pk,
            name=name,
            document={"checks": {"max_resets": 3}},
            activate=True,
        )
    body: dict[str, Any] = {"document": {"checks": {"max_resets": 3}}}
    assert manager.post("/policies/draft/versions", json=body).status_code == 201
    replace_assignments(project_id=elsewhere.pk, assignments=tests)

    def look(place: Project) -> tuple[list[Assignment], bool]:
        choice = load_policy_choice(project_id=place.pk)
        return list(choice.assignments), choice.agents_choose

    replace_assignments(project_id=project.pk, assignments=docs)
    assert look(project) == (docs, False)
    replace_assignments(project_id=project.pk, agents_choose=True)
    assert (look(project), look(elsewhere)) == ((docs, True), (tests, False))
    replace_assignments(project_id=project.pk, assignments=[*tests, *docs])
    assert look(project) == ([*tests, *docs], True)
    seen = assignments.hash_assignments([*tests, *docs])
    with pytest.raises(StaleVersion):
        replace_assignments(
            project_id=project.pk,
            assignments=[],
            seen=assignments.hash_assignments([*docs, *tests]),
        )
    replace_assignments(project_id=project.pk, agents_choose=False, seen=seen)
    assert look(project) == ([*tests, *docs], False)
    assert look(elsewhere) == (tests, False)
    own = Policy.objects.filter(project=project)
    stored = PolicyAssignment.objects.filter(project=project)
    assert set(stored.values_list("policy_id", flat=True)) <= set(
        own.values_list("pk", flat=True)
    )

    make_robot("stranger", project=elsewhere)
    for match, policy, place in (
        ({"agent": "stranger"}, "strict", [0, "match", "agent"]),
        ({"agent": "system-policies"}, "strict", [0, "match", "agent"]),
        ({"intent": "docs"}, "theirs", [0, "policy"]),
        ({"intent": "docs"}, "draft", [0, "policy"]),
    ):
        told = problem(assign(manager, (match, policy)), "invalid")
        assert [each["loc"] for each in told["errors"]] == [place]
    assert look(project) == ([*tests, *docs], False)


def test_assignments_are_acts_in_the_chain(
    manager: httpx.Client, project: Project
) -> None:
    assign(manager, ({"intent": "docs"}, "strict"))
    chain = Run.objects.get(project=project, intent="system-policies")
    head = chain.head_seq
    assert chain.entries.get(seq=head).type == "policy.assigned"
    assign(manager, ({"intent": "docs"}, "strict"))  # the same again
    chain.refresh_from_db()
    assert chain.head_seq == head
    call_command("ledger_verify", run=str(chain.code))
    PolicyAssignment.objects.filter(project=project).update(intent="testing")
    Project.objects.filter(pk=project.pk).update(agents_choose_policy=True)
    reasons = [each.reason for each in compare_runs([chain])]
    assert len(reasons) == 2
    assert "the assignments of policies are not those" in " ".join(reasons)
    Project.objects.filter(pk=project.pk).update(agents_choose_policy=False)


def test_what_a_run_is_judged_by_is_one_query(project: Project) -> None:
    """However many assignments there are."""
    make_robot("other", project=project)
    facts = RunFacts(agent="other", intent="docs", model="", labels={})
    choose_policy(project_id=project.pk, wish="default", run=facts)
    with CaptureQueriesContext(connection) as asked:
        choose_policy(project_id=project.pk, wish="default", run=facts)
    assert len(asked.captured_queries) == 1
