"""What is kept beside a ruling, and when it counts as regretted."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import httpx
import pytest
from django.apps import apps
from django.db import connection

from accounts.models import Project
from reviews.models import RulingFact
from reviews.queue.subjects import find_subject
from tests.gateway.calls.calls import claim, command, rule
from tests.support import people
from tests.support.builders import Person, pause_at_once, start_run


def get_fact(ruling: dict[str, Any]) -> RulingFact:
    return RulingFact.objects.get(ruling_id=ruling["id"])


def approve_pause(agent: httpx.Client, reviewer: httpx.Client, run: str) -> RulingFact:
    number = agent.get(f"/runs/{run}").json()["last_step"] + 1
    review = pause_at_once(agent, run, number=number)
    return get_fact(people.rule(reviewer, review, "approve")["ruling"])


def finish(agent: httpx.Client, run: str, **more: Any) -> None:
    body = {"outcome": "completed", **more}
    answer = agent.post(f"/runs/{run}/finish", json=body)
    assert answer.status_code == 200, answer.text


def is_regretted(fact: RulingFact) -> bool:
    fact.refresh_from_db()
    return fact.regretted


def test_a_ruling_on_a_call_is_kept_with_all_rules_that_asked(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person, project: Project
) -> None:
    call = command(
        agent, start_run(agent), "rm -rf src && git push --force origin main"
    )
    ruled = rule(reviewer, call, "approve").json()["ruling"]
    fact = get_fact(ruled)
    assert (fact.kind, fact.action, fact.rule) == (
        "confirmation",
        "approve",
        "delete-folder",
    )
    assert {"destructive", "delete-folder", "git-push-force"} <= set(
        fact.rules.split("\n")
    )
    review = reviewer.get(f"/reviews/{call['review']['id']}").json()
    severities = {f["details"]["severity"] for f in review["content"]["findings"]}
    assert fact.severity == min(severities, key=["critical", "high", "medium"].index)
    assert (fact.by, fact.project) == (bob.user, project)
    waited = fact.at - fact.ruling.review.opened_at
    assert fact.took_ms == waited.total_seconds() * 1000 // 1


def test_what_each_kind_is_about() -> None:
    pause = {"decision": {"findings": [
        {"gate": "slope", "decision": "throttle"},
        {"gate": "uncertainty", "decision": "pause"},
    ]}}  # fmt: skip
    assert find_subject("pause", pause).rule == "uncertainty"
    gates = {"gates": [
        {"id": "style", "severity": "low"}, {"id": "tests", "severity": "high"},
    ]}  # fmt: skip
    subject = find_subject("exhausted", gates)
    assert (subject.rule, subject.severity) == ("tests", "high")
    assert find_subject("question", {}).severity == "low"
    assert find_subject("confirmation", {"an": "older form"}).rule == "confirmation"
    minor = {"gate": "x", "decision": "require-confirmation"}
    found = find_subject(
        "confirmation", {"findings": [{**minor, "details": {"severity": "info"}}]}
    )
    assert found.severity == "low"


def test_the_last_approval_before_a_failure_is_regretted(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first = approve_pause(agent, reviewer, run)
    last = approve_pause(agent, reviewer, run)
    finish(agent, run, outcome="failed")
    assert (is_regretted(first), is_regretted(last)) == (False, True)


def test_a_run_that_was_not_accepted_is_a_regret_and_one_that_ended_well_is_none(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    bad, good = start_run(agent), start_run(agent)
    facts = [approve_pause(agent, reviewer, run) for run in (bad, good)]
    finish(agent, bad, tests={"ran": True, "passed": 1, "failed": 2, "skipped": 0})
    finish(agent, good)
    assert [is_regretted(fact) for fact in facts] == [True, False]


def test_an_abort_by_a_person_is_a_regret(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    by_button, by_ruling = start_run(agent), start_run(agent)
    facts = [approve_pause(agent, reviewer, run) for run in (by_button, by_ruling)]
    assert reviewer.post(f"/runs/{by_button}/abort", json={}).status_code == 200
    review = pause_at_once(agent, by_ruling, number=2)
    aborting = get_fact(people.rule(reviewer, review, "abort")["ruling"])
    assert [is_regretted(fact) for fact in facts] == [True, True]
    assert not is_regretted(aborting)


def test_nobody_regrets_a_run_that_was_only_taken_along(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    parent = start_run(agent)
    child = start_run(agent, parent_run=parent)
    taken_along = approve_pause(agent, reviewer, child)
    answer = reviewer.post(f"/runs/{parent}/abort", json={"children": True})
    assert answer.status_code == 200
    assert agent.get(f"/runs/{child}").json()["status"] == "aborted"
    assert not is_regretted(taken_along)


def test_a_denial_after_the_approval_ends_its_part(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    approved = approve_pause(agent, reviewer, run)
    denied = get_fact(
        rule(reviewer, command(agent, run, "rm -rf src"), "deny").json()["ruling"]
    )
    finish(agent, run, outcome="failed")
    assert (is_regretted(approved), is_regretted(denied)) == (False, False)


@pytest.mark.parametrize("ran", [True, False])
def test_a_call_is_regretted_only_if_it_ran(
    agent: httpx.Client, reviewer: httpx.Client, ran: bool
) -> None:
    run = start_run(agent)
    call = command(agent, run, "rm -rf src")
    fact = get_fact(rule(reviewer, call, "approve").json()["ruling"])
    if ran:
        assert claim(agent, run, call).status_code == 200
    finish(agent, run, outcome="failed")
    assert is_regretted(fact) is ran


def test_rulings_from_before_are_filled_in_as_new_ones_are_stored(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    failed, aborted, going = (start_run(agent) for _ in range(3))
    for run in (failed, aborted, going):
        approve_pause(agent, reviewer, run)
    finish(agent, failed, outcome="failed")
    reviewer.post(f"/runs/{aborted}/abort", json={})
    rule(reviewer, command(agent, going, "rm -rf src"), "deny")
    columns = [
        field.attname
        for field in RulingFact._meta.concrete_fields
        if field.name != "id"
    ]
    facts = RulingFact.objects.filter(project=project).order_by("ruling_id")
    before = list(facts.values(*columns))
    assert [row["regretted"] for row in before].count(True) == 2
    facts.delete()
    with connection.schema_editor() as editor:
        for name in ("0017_fill_ruling_facts", "0024_fill_review_alike"):
            import_module(f"reviews.migrations.{name}").fill(apps, editor)
    assert list(facts.values(*columns)) == before


def test_the_chain_tells_of_every_regret(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    failed, aborted, unused = (start_run(agent) for _ in range(3))
    for run in (failed, aborted):
        approve_pause(agent, reviewer, run)
    rule(reviewer, command(agent, unused, "rm -rf src"), "approve")
    finish(agent, failed, outcome="failed")
    finish(agent, unused, outcome="failed")
    reviewer.post(f"/runs/{aborted}/abort", json={})
    for run in (failed, aborted, unused):
        assert agent.get(f"/runs/{run}/verify").json()["reason"] is None
