"""Fill the database that the environment names with many runs, and count their figures.

Run it as `python -m bench.servers.many_runs RUNS STEPS [LONG]`: about so many runs, with so
many steps in all, over the last 90 days, and one run of LONG steps. A few runs are lived
through by the real writer; the rest are copies with hash chains, figures and words of their
own. What it made and how long it took is one line of JSON; it says how far it is on the other
stream.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from datetime import timedelta
from random import Random
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Everything below needs the apps that the line above has loaded.
from asgiref.sync import sync_to_async  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from accounts.auth import (  # noqa: E402
    AgentPrincipal,
    PersonPrincipal,
    build_person_principal,
    find_principal,
    require_agent,
)
from accounts.models import Project, Role  # noqa: E402
from accounts.services import add_person, issue_agent_key  # noqa: E402
from bench.servers.copy_runs import copy_runs, load_template  # noqa: E402
from bench.servers.fill_database import lift_limits  # noqa: E402
from gateway.schemas.runs import FinishIn, RunIn, StepIn  # noqa: E402
from gateway.use_cases.outcomes.finish import FinishRun  # noqa: E402
from gateway.use_cases.runs import create_run  # noqa: E402
from gateway.use_cases.steps import submit_steps, take_reports  # noqa: E402
from gateway.use_cases.tool_calls import submit_call  # noqa: E402
from guidance.core.tools.calls import CommandCall  # noqa: E402
from ledger.models import ProjectHead, Run  # noqa: E402
from ledger.run_list.indexing import index_next  # noqa: E402
from ledger.statistics.counting import count_project  # noqa: E402
from ledger.writer import close_writer, get_writer  # noqa: E402
from reviews.selectors import get_review_for_change  # noqa: E402
from reviews.services import submit_abort, submit_ruling_now  # noqa: E402

PROJECT = "bench"
# Of each agent as many runs end in each way.
TEMPLATES, AGENTS, REVIEWERS = 48, 12, 5
BACK = timedelta(days=90)
AT_ONCE = 100
MODELS = ("large-model", "small-model", "old-model")
INTENTS = ("bug-fix", "feature", "docs", "refactor")
REPOS = ("shop", "site", "billing", "search", "mail", "docs")
SUBJECTS = ("race", "leak", "crash", "typo", "timeout", "overflow", "deadlock", "drift")


def main(runs: int, steps: int, long: int = 0) -> None:
    call_command("migrate", verbosity=0, interactive=False)
    names = ["alice", *(f"reviewer-{number}" for number in range(1, REVIEWERS + 1))]
    people = [_add_person(name) for name in names]
    keys = [
        issue_agent_key(name=f"agent-{number}", project_slug=PROJECT)[1]
        for number in range(1, AGENTS + 1)
    ]
    agents = [require_agent(find_principal(key)) for key in keys]
    project_id = agents[0].project_id
    lift_limits(project_id)
    asyncio.run(_live(agents, people, each=max(1, steps // runs)))
    seconds, cpu, counted = _keep_figures(project_id)
    templates = [load_template(run) for run in _list_lived()]
    copying = _copy(templates, runs - len(templates) - bool(long))
    if long:
        asyncio.run(live_run(agents[0], people, Random(1), number=0, count=long))
    close_writer()
    more_seconds, more_cpu, more = _keep_figures(project_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE"
        )
    made: dict[str, Any] = {
        "project": PROJECT,
        "person": names[0],
        "runs": Run.objects.count(),
        "entries": ProjectHead.objects.get(pk=project_id).position,
        "copying_s": round(copying, 1),
        "counted": counted + more,
        "counting_s": round(seconds + more_seconds, 1),
        "counting_cpu_s": round(cpu + more_cpu, 2),
    }
    print(json.dumps(made))


def _add_person(name: str) -> PersonPrincipal:
    role = Role.MANAGER if name == "alice" else Role.REVIEWER
    person = add_person(name=name, role=role, project_slug=PROJECT)
    person.user.must_change_password = False
    person.user.save()
    return build_person_principal(person.user)


def _keep_figures(project_id: int) -> tuple[float, float, int]:
    """Have the tasks count and index what was lived through: seconds, seconds of the
    processor, and entries, of counting alone."""
    began, cpu = time.perf_counter(), time.process_time()
    counted = count_project(project_id=project_id)
    spans = time.perf_counter() - began, time.process_time() - cpu
    while index_next(project_id):
        pass
    return (*spans, counted)


def _say(text: str) -> None:
    print(f"\r{text}", end="", file=sys.stderr, flush=True)


def _list_lived() -> list[Run]:
    project = Project.objects.get(slug=PROJECT)
    return list(Run.objects.filter(project=project, intent__in=INTENTS).order_by("pk"))


def _copy(templates: list[Any], count: int) -> float:
    began = time.perf_counter()
    for done in copy_runs(templates, count=count, back=BACK):
        _say(f"{done:,} of {count:,} runs copied")
    return time.perf_counter() - began


async def _live(
    agents: list[AgentPrincipal], people: list[PersonPrincipal], *, each: int
) -> None:
    chance = Random(7)
    for number in range(TEMPLATES):
        agent = agents[number % len(agents)]
        # Some have half as many steps, some as many more.
        count = max(1, each + (number % 3 - 1) * each // 2)
        await live_run(agent, people, chance, number=number, count=count)


async def live_run(
    agent: AgentPrincipal,
    people: list[PersonPrincipal],
    chance: Random,
    *,
    number: int,
    count: int,
) -> None:
    """One run: a call that a person is asked about, steps, perhaps a pause, and an end."""
    body = RunIn.model_validate(
        {
            "task": f"Find the {chance.choice(SUBJECTS)} in test {number}",
            "intent": chance.choice(INTENTS),
            "model": chance.choice(MODELS),
            "labels": {"repo": chance.choice(REPOS), "team": "red"},
        }
    )
    code = json.loads((await create_run(agent=agent, body=body)).body)["id"]
    call = CommandCall(tool="Bash", command="rm -rf build")
    asked = json.loads((await submit_call(agent=agent, run_code=code, call=call)).body)
    person = chance.choice(people)
    await _rule(person, asked["review"]["id"], chance.choice(["approve", "deny"]))
    first = 1
    while first <= count:
        last = min(first + AT_ONCE - 1, count)
        steps = [_build_step(each, chance) for each in range(first, last + 1)]
        reply = await submit_steps(
            agent=agent, run_code=code, reports=take_reports(steps)
        )
        decisions = json.loads(reply.body)["decisions"]
        first = decisions[-1]["step"] + 1
        if decisions[-1]["review"]:
            person = chance.choice(people)
            await _rule(person, decisions[-1]["review"]["id"], "approve")
    end = number // AGENTS * 3 + number  # so that each agent has each end
    if end % 8 == 7:
        abort = sync_to_async(submit_abort)
        await abort(run_code=code, person=people[0], reason="Not needed any more")
    elif end % 8 == 6:
        # Still running, and waiting for a person.
        await submit_call(agent=agent, run_code=code, call=call)
    else:
        outcome = FinishIn(outcome="failed" if end % 8 == 5 else "completed")
        await get_writer().perform(FinishRun(agent=agent, run_code=code, body=outcome))


def _build_step(number: int, chance: Random) -> StepIn:
    return StepIn(
        number=number,
        tokens=chance.randrange(900, 1_100),
        tool_calls=1,
        cost_usd=f"0.{chance.randrange(1_000, 9_000):05d}",
        checkpoint=number % 10 == 0,
        uncertainty=0.95 if number % 40 == 39 else 0.1,
        coherence=0.9,
        summary="Looked at the failing test and changed the fixture",
        signature=f"edit:file-{number}.py",
    )


async def _rule(person: PersonPrincipal, code: str, action: str) -> None:
    def rule() -> None:
        review = get_review_for_change(user_id=person.user_id, code=code)
        submit_ruling_now(
            review=review,
            person=person,
            action=action,
            version=review.version,
            content_digest=review.content_digest,
            note="As it is.",
        )

    await sync_to_async(rule)()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
