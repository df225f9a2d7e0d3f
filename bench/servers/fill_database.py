"""Fill the database that the environment names.

Run it as `python -m bench.servers.fill_database RUNS REVIEWS CHILDREN MIXED PROJECTS`.

A program, because Django's settings belong to one process and the measurements use
two databases. What it made is one line of JSON (`bench.servers.contents.Contents`).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import cycle, islice
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Everything below needs the apps that the line above has loaded.
from asgiref.sync import sync_to_async  # noqa: E402
from django.core.management import call_command  # noqa: E402

from accounts.auth import (  # noqa: E402
    AgentPrincipal,
    find_principal,
    require_agent,
)
from accounts.models import Project, Role  # noqa: E402
from accounts.services import add_person, issue_agent_key  # noqa: E402
from bench.servers.contents import Contents, PreparedReview, PreparedRun  # noqa: E402
from bench.servers.mixed_reviews import (  # noqa: E402
    MIXED_POLICY,
    open_mixed_reviews,
    sign_in_people,
)
from gateway.schemas.runs import RunIn  # noqa: E402
from gateway.use_cases.runs import create_run  # noqa: E402
from gateway.use_cases.steps import submit_steps  # noqa: E402
from guidance.core.runs.facts import StepReport  # noqa: E402
from ledger.writer import close_writer  # noqa: E402
from reviews.models import Review  # noqa: E402
from reviews.policies.services import create_version  # noqa: E402

PROJECT = "bench"
AGENTS = 64
LARGE: dict[str, Any] = {
    **dict.fromkeys(("tokens", "tool_calls", "time_ms"), 10**15),
    "cost_usd": "1000000000.00",
}
UNLIMITED = dict.fromkeys(("tokens", "tool_calls", "time_ms", "cost_usd"))
# Rework from the first step on: the continue gate pauses as soon as it may judge.
REWORK = [
    StepReport(number=n, tokens=1000, tool_calls=1, rework=True) for n in range(1, 9)
]

Agents = Sequence[tuple[str, AgentPrincipal]]


def main(runs: int, reviews: int, children: int, mixed: int, projects: int) -> None:
    call_command("migrate", verbosity=0, interactive=False)
    person = add_person(name="bob", role=Role.MANAGER, project_slug=PROJECT)
    keys = [
        issue_agent_key(name=f"agent-{number}", project_slug=slug)[1]
        for number, slug in enumerate(islice(cycle(_name_projects(projects)), AGENTS))
    ]
    strangers = [
        issue_agent_key(name=name, project_slug=f"not-{PROJECT}")[1]
        for name in ("stranger", "other-stranger")
    ]
    agents = [(key, require_agent(find_principal(key))) for key in keys]
    for project_id in {agent.project_id for _, agent in agents}:
        lift_limits(project_id, **(MIXED_POLICY if mixed else {}))
    started = asyncio.run(_start(agents, count=runs + reviews))
    paused = {run.code: run for run in started[runs:]}
    asyncio.run(_pause(agents, started[runs:]))
    tree = asyncio.run(_start_tree(agents, count=children)) if children else []
    if mixed:
        asyncio.run(open_mixed_reviews([agent for _, agent in agents], count=mixed))
    close_writer()
    rows = Review.objects.filter(run__code__in=paused).select_related("run")
    contents = Contents(
        token=person.token,
        strangers=strangers,
        runs=started[:runs],
        children=tree,
        reviews=[
            PreparedReview(
                code=str(row.code),
                digest=row.content_digest,
                run=str(row.run.code),
                key=paused[str(row.run.code)].key,
            )
            for row in rows
        ],
        cookies=sign_in_people(PROJECT) if mixed else [],
    )
    assert len(contents.reviews) == reviews
    print(json.dumps(asdict(contents)))


def _name_projects(count: int) -> list[str]:
    """The first is the one that the person is a member of."""
    return [PROJECT, *(f"{PROJECT}-{number}" for number in range(2, count + 1))]


def lift_limits(project_id: int, **more: Any) -> None:
    """No run of a measurement ends by its budget, or because it never waits."""
    usual = {"budget": UNLIMITED, "continue": {"throttle_ignore_limit": 1_000}}
    document = {**usual, **more}
    create_version(
        project_id=project_id, name="default", document=document, activate=True
    )


async def _start_tree(agents: Agents, *, count: int) -> list[PreparedRun]:
    """Children of one run, under every limit that runs can share."""
    await sync_to_async(_set_limits)(agents[0][1].project_id)
    body = RunIn(task="Look after the others", policy="limited")
    parent = await create_run(agent=agents[0][1], body=body)
    code = json.loads(parent.body)["id"]
    return await _start(agents, count=count, parent_run=code, policy="limited")


def _set_limits(project_id: int) -> None:
    Project.objects.filter(pk=project_id).update(agents_choose_policy=True)
    amounts = {name: limit for name, limit in LARGE.items() if name != "time_ms"}
    limits = dict.fromkeys(("agent_day", "project_day", "project_month"), amounts)
    create_version(
        project_id=project_id,
        name="limited",
        document={"budget": LARGE, "limits": limits},
        activate=True,
    )


async def _start(agents: Agents, *, count: int, **more: Any) -> list[PreparedRun]:
    body = RunIn(task="Find the race in the login test", **more)
    owners = [agents[index % len(agents)] for index in range(count)]
    replies = await asyncio.gather(
        *(create_run(agent=agent, body=body) for _, agent in owners)
    )
    return [
        PreparedRun(code=json.loads(reply.body)["id"], key=key)
        for reply, (key, _) in zip(replies, owners, strict=True)
    ]


async def _pause(agents: Agents, runs: Sequence[PreparedRun]) -> None:
    owners = dict(agents)
    await asyncio.gather(
        *(
            submit_steps(agent=owners[run.key], run_code=run.code, reports=REWORK)
            for run in runs
        )
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
