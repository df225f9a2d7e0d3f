"""Work of agents and people that leaves entries of every counted type."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import httpx
from django.db.models import Sum
from django.utils import timezone

from accounts.models import Project
from ledger.models import Run
from ledger.statistics.periods import Scope
from tests.gateway.calls.calls import claim, command, settle
from tests.support.builders import start_run, step
from tests.support.people import rule


def scope_of(project: Project, **more: Any) -> Scope:
    """Of now: from two hours ago to the end of this one."""
    now = timezone.now()
    given: dict[str, Any] = {"since": now - timedelta(hours=2), "until": now, **more}
    return Scope(project_id=project.pk, **given)


def sum_runs(project: Project) -> dict[str, int]:
    """What the rows of the runs themselves say."""
    return Run.objects.filter(project=project).aggregate(
        steps=Sum("steps", default=0),
        tokens=Sum("tokens_used", default=0),
        tool_calls=Sum("tool_calls_used", default=0),
        cost_micros=Sum("cost_micros_used", default=0),
    )


def work(agent: httpx.Client, person: httpx.Client, random: Random) -> None:
    """One run with some steps, calls and an end, as chance will have it."""
    run = start_run(
        agent,
        model=random.choice(["big", "small"]),
        intent=random.choice(["bug-fix", "docs"]),
        labels={"repo": random.choice(["shop", "site"])},
    )
    for number in range(1, random.randint(1, 4) + 1):
        if random.random() < 0.5:
            _call(agent, person, run, random)
        body = step(
            number,
            tokens=random.randint(1, 900),
            tool_calls=random.randint(0, 3),
            cost_usd=random.choice(["0", "0.0121", "0.5"]),
            rework=random.random() < 0.2,
            uncertainty=random.choice([0.1, 0.2, 0.95]),
        )
        decision = agent.post(f"/runs/{run}/steps", json=body).json()
        if decision.get("review"):
            ruling = random.choice(["approve", "approve", "abort"])
            rule(person, decision["review"]["id"], ruling)
            if ruling == "abort":
                return
    ending = random.choice(["completed", "failed", "aborted", "running"])
    if ending == "aborted":
        assert person.post(f"/runs/{run}/abort", json={}).status_code == 200
    elif ending != "running":
        tests = {"ran": True, "passed": 3, "failed": random.randint(0, 1)}
        answer = agent.post(
            f"/runs/{run}/finish", json={"outcome": ending, "tests": tests}
        )
        assert answer.status_code == 200, answer.text


def _call(agent: httpx.Client, person: httpx.Client, run: str, random: Random) -> None:
    call = command(agent, run, random.choice(["ls", "rm -rf build"]))
    if call["review"]:
        rule(person, call["review"]["id"], random.choice(["approve", "deny"]))
    elif call["grant"]:
        claim(agent, run, call)
        settle(agent, run, call, tokens=random.randint(0, 50), cost_usd="0.001")
