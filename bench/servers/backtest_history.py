"""Fill the database that the environment names with decisions, and backtest them.

Run it as `python -m bench.servers.backtest_history DECISIONS`. A program, as
`bench.servers.fill_database` is. What it measured is one line of JSON.

A few runs are lived through by the real writer; the rest are copies of their rows. The draft
changes limits, rules and budget, so that every decision is judged anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Everything below needs the apps that the line above has loaded.
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import Max  # noqa: E402

from accounts.auth import AgentPrincipal, find_principal, require_agent  # noqa: E402
from accounts.models import Project, Role, User  # noqa: E402
from accounts.services import add_person, issue_agent_key  # noqa: E402
from bench.servers.fill_database import lift_limits  # noqa: E402
from common.ids import uuid7  # noqa: E402
from gateway.schemas.runs import RunIn, StepIn  # noqa: E402
from gateway.use_cases.runs import create_run  # noqa: E402
from gateway.use_cases.steps import submit_step  # noqa: E402
from gateway.use_cases.tool_calls import submit_call  # noqa: E402
from guidance.core.tools.calls import CommandCall  # noqa: E402
from ledger.models import Entry, Run  # noqa: E402
from ledger.writer import close_writer  # noqa: E402
from reviews.policies.backtest.perform import perform_next  # noqa: E402
from reviews.policies.backtest.services import Period, build_backtest  # noqa: E402
from tests.guidance.core.shell_commands.corpus.everyday import PASSES  # noqa: E402

PROJECT = "bench"
LIVED = 20
STEPS = 50
DRAFT = {
    "continue": {"max_rework_ratio": 0.1, "rework_window": 30, "slope_window": 20},
    "tools": {"max_diff_lines": 77, "rules": {"delete-folder": "warn"}},
    "turns": {"threshold": 60},
    "budget": {"tokens": 900_000},
}
_COPIED: list[str] = [
    str(field.column)
    for field in Entry._meta.concrete_fields
    if field.name not in {"id", "run", "position"}
]


def main(decisions: int) -> None:
    call_command("migrate", verbosity=0, interactive=False)
    person = add_person(name="alice", role=Role.MANAGER, project_slug=PROJECT)
    _, key = issue_agent_key(name="robo", project_slug=PROJECT)
    agent = require_agent(find_principal(key))
    lift_limits(agent.project_id)
    asyncio.run(_live(agent, random.Random(7)))
    close_writer()
    _copy_runs(decisions)
    few = _backtest(person.user, limit=decisions // 10)
    memory = _get_peak_memory()
    everything = _backtest(person.user, limit=decisions)
    print(
        json.dumps(
            {
                **everything,
                "few": few,
                "memory": _get_peak_memory(),
                "memory_before": memory,
            }
        )
    )


async def _live(agent: AgentPrincipal, chance: random.Random) -> None:
    """Runs of steps and calls, as coding agents have them."""
    commands = [text for _, text in PASSES]
    for _ in range(LIVED):
        body = RunIn(task="Find the race in the login test")
        reply = await create_run(agent=agent, body=body)
        code = json.loads(reply.body)["id"]
        for number in range(1, STEPS + 1):
            call = CommandCall(tool="Bash", command=chance.choice(commands))
            await submit_call(agent=agent, run_code=code, call=call)
            step = StepIn(
                number=number,
                tokens=chance.randrange(500, 3_000),
                tool_calls=1,
                rework=number % 9 == 0,
                checkpoint=number % 20 == 0,
                summary="Looked at the failing test and changed the fixture",
            )
            await submit_step(agent=agent, run_code=code, body=step)


def _copy_runs(decisions: int) -> None:
    """Until there are as many decisions; chains of copies are not verified here."""
    runs = list(Run.objects.filter(entries__type="step.judged").distinct())
    each = [
        run.entries.filter(type__in=("step.judged", "call.judged")).count()
        for run in runs
    ]
    missing, position = decisions - sum(each), _get_last_position()
    while missing > 0:
        with transaction.atomic():
            for run, count in zip(runs, each, strict=True):
                _copy_run(run, position)
                position += run.head_seq
                missing -= count


def _copy_run(run: Run, position: int) -> None:
    copied = Run.objects.get(pk=run.pk)
    copied.pk, copied.code = None, uuid7()
    copied.save(force_insert=True)
    columns = ", ".join(_COPIED)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO ledger_entry (run_id, position, {columns}) "
            f"SELECT %s, %s + seq, {columns} FROM ledger_entry WHERE run_id = %s",
            [copied.pk, position, run.pk],
        )


def _get_last_position() -> int:
    last: int = Entry.objects.aggregate(last=Max("position"))["last"]
    return last


def _backtest(user: User, *, limit: int) -> dict[str, Any]:
    backtest = build_backtest(
        project=Project.objects.get(slug=PROJECT),
        policy="default",
        document=DRAFT,
        version=None,
        period=Period(limit=limit),
    )
    backtest.created_by = user
    backtest.save()
    wall, cpu = time.perf_counter(), time.process_time()
    perform_next()
    seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
    backtest.refresh_from_db()
    if backtest.state != "finished":
        raise RuntimeError(f"The backtest ended as {backtest.state}: {backtest.reason}")
    result = json.loads(backtest.result)
    return {
        "seconds": seconds,
        "cpu": cpu,
        "judged": result["judged"] + result["unknown"],
        "changed": result["changed"],
    }


def _get_peak_memory() -> int:
    """In bytes; Linux counts in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(int(sys.argv[1]))
