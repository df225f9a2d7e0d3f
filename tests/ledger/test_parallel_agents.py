"""Twenty agents at once: no 5xx, nothing acknowledged is missing, order holds."""

from __future__ import annotations

import json
from threading import Event

import httpx
from django.core.management import call_command

from accounts.models import Project
from ledger.models import Entry, Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.conftest import client_for
from tests.support.builders import Robot, make_policy, make_robot, start_run, step
from tests.support.live import Live
from tests.support.threads import Threads

AGENTS = 20
STEPS = 50


def work(live: Live, robot: Robot) -> dict[tuple[str, int], tuple[int, str]]:
    """One agent's run of fifty steps; the receipts it was given."""
    receipts = {}
    with client_for(live, robot) as client:
        run = start_run(client)
        for number in range(1, STEPS + 1):
            answer = client.post(
                f"/runs/{run}/steps", json=step(number, checkpoint=number % 25 == 0)
            )
            assert answer.status_code == 201, answer.text
            receipt = answer.json()["receipt"]
            receipts[run, number] = (receipt["seq"], receipt["hash"])
    return receipts


def test_every_acknowledged_step_of_every_agent_is_in_the_ledger(
    live: Live, project: Project
) -> None:
    robots = [
        make_robot(f"agent-{number}", project=project) for number in range(AGENTS)
    ]
    done = Event()
    with Threads(AGENTS + 1) as pool:
        watcher = pool.submit(watch_positions, project, done)
        workers = [pool.submit(work, live, robot) for robot in robots]
        try:
            acknowledged = {k: v for each in workers for k, v in each.result().items()}
        finally:
            done.set()

    stored = {
        (str(entry.run.code), entry.step_number): (entry.seq, entry.hash)
        for entry in Entry.objects.filter(
            project=project, type="step.judged"
        ).select_related("run")
    }
    assert len(stored) == AGENTS * STEPS
    assert stored == acknowledged
    assert watcher.result() == AGENTS * (STEPS + 1)
    for run in Run.objects.filter(project=project):
        assert verify_run(run).ok
        assert replay_run(run).difference is None


def watch_positions(project: Project, done: Event) -> int:
    """A concurrent reader with a cursor: it must never miss one that comes later."""
    position = 0
    while True:
        last_round = done.is_set()
        found = list(
            Entry.objects.filter(project=project, position__gt=position)
            .order_by("position")
            .values_list("position", flat=True)
        )
        assert found == list(range(position + 1, position + 1 + len(found)))
        position += len(found)
        if last_round:
            return position
        done.wait(0.005)  # let the writers have the processor, too


def test_a_limit_holds_under_parallel_steps(
    agent: httpx.Client, project: Project
) -> None:
    """4N at once at limit N: the budget stops the run exactly once."""
    make_policy("small", project=project, budget={"tool_calls": 10})
    run = start_run(agent, policy="small")

    def push(number: int) -> int:
        body = step(number)
        while True:
            answer = agent.post(f"/runs/{run}/steps", json=body)
            if answer.status_code != 409 or "out-of-order" not in answer.text:
                return answer.status_code

    with Threads(8) as pool:
        statuses = list(pool.map(push, range(1, 41)))

    assert statuses.count(201) == 10
    assert statuses.count(409) == 30
    stored = agent.get(f"/runs/{run}").json()
    assert stored["status"] == "stopped"
    assert stored["budget"]["tool_calls"]["remaining"] == 0


def test_verification_never_cries_wolf_while_agents_are_at_work(
    live: Live, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    done = Event()

    def report() -> None:
        for first in range(1, 601, 20):
            steps = [
                step(n, tokens=1, checkpoint=True) for n in range(first, first + 20)
            ]
            answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})
            assert answer.status_code == 200
        done.set()

    with Threads(1) as pool:
        reporting = pool.submit(report)
        verified = 0
        while not done.is_set():
            body = reviewer.get(f"/runs/{run}/verify").json()
            assert body["ok"], json.dumps(body)
            call_command("ledger_verify", run=run, verbosity=0)
            call_command("replay", run=run, verbosity=0)
            verified += 1
        reporting.result()
    assert verified > 0
