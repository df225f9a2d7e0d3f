"""Which policy a run is judged by: assignments first, an agent's wish where it may."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from guidance.core.policy.assignments import RunFacts
from guidance.models import PolicyAssignment
from guidance.services import choose_policy
from ledger.models import Run
from ledger.verification.row_checks import compare_runs
from reviews.policies.assignments import replace_assignments
from reviews.policies.services import create_version
from tests.support.builders import make_robot, start_run
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
