"""The same answer as a recomputation that knows nothing but the exported ledger.

It reads the NDJSON of each run and counts with the rules of docs/gates.md, written out here
once more.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import httpx

from accounts.models import Project
from tests.gateway.backtest.trying import judge_again, list_moves, try_draft
from tests.gateway.calls.calls import command
from tests.support.builders import start_run, step
from tests.support.people import rule

SEVERITY = ["continue", "checkpoint", "throttle", "pause", "stop"]


def recompute(lines: list[dict[str, Any]], *, most: float, unsure: float) -> list[str]:
    """What each step would have come to with these two limits, all others as they were."""
    decisions: list[str] = []
    reworks: list[bool] = []
    for line in lines:
        payload = line["payload"]
        if line["type"] == "review.ruled" and payload["kind"] == "pause":
            reworks = []  # what led to an approved pause is not held against the run
        if line["type"] != "step.judged":
            continue
        reworks.append(payload["report"]["rework"])
        verdict = payload["verdict"]
        found = [
            finding["decision"]
            for finding in verdict["findings"]
            if finding["gate"] not in {"rework", "uncertainty"}
        ]
        window = reworks[-20:]
        if len(window) >= 5 and sum(window) / len(window) > most:
            found.append("pause")
        known = verdict["metrics"]["uncertainty"]
        if known is not None and known > unsure:
            found.append("pause")
        decisions.append(max(["continue", *found], key=SEVERITY.index))
    return decisions


def live_through(
    agent: httpx.Client, reviewer: httpx.Client, chance: random.Random
) -> str:
    """A run of forty steps with all that comes between them."""
    run = start_run(agent)
    for number in range(1, 41):
        body = step(
            number,
            rework=chance.random() < 0.3,
            tokens=chance.randrange(100, 2_000),
            checkpoint=chance.random() < 0.1,
        )
        if chance.random() < 0.3:
            body["uncertainty"] = chance.choice([0.1, 0.5, 0.6, 0.7, 0.85])
        answer = agent.post(f"/runs/{run}/steps", json=body)
        assert answer.status_code == 201, answer.text
        decision = answer.json()
        if decision["decision"] == "pause":
            rule(reviewer, decision["review"]["id"], "approve")
        if decision["decision"] == "stop":
            break
        if chance.random() < 0.2:
            command(agent, run, chance.choice(["ls", "pytest -q"]))
    return run


def test_a_recomputation_from_the_exported_ledger_gives_the_same_answer(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    chance = random.Random(20261116)
    runs = [live_through(agent, reviewer, chance) for _ in range(6)]
    limits = {"max_rework_ratio": 0.2, "max_uncertainty": 0.9}
    expected: list[tuple[int, str, str]] = []
    for run in reversed(runs):
        text = agent.get(f"/runs/{run}/ledger").text
        lines = [json.loads(line) for line in text.splitlines()]
        again = iter(recompute(lines, most=0.2, unsure=0.9))
        for line in lines:
            if line["type"] == "step.judged":
                stored = line["payload"]["verdict"]["decision"]
                expected.append((line["seq"], stored, next(again)))

    items = judge_again(project, {"continue": limits})
    steps = list_moves([item for item in items if item.kind.name == "step"])
    assert steps == expected

    found = try_draft(project, **{"continue": limits})
    moves = Counter(f"{before}→{after}" for _, before, after in expected)
    changed = {n: c for n, c in moves.items() if len(set(n.split("→"))) == 2}
    assert len(changed) > 1, "the runs are to show more than one kind of change"
    assert found["moves"] == changed
    assert found["decisions"]["step"] == moves
    assert found["changed"] == sum(changed.values())
