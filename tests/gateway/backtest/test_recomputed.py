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
from tests.gateway.backtest.trying import judge_again, list_moves
from tests.gateway.calls.calls import command
from tests.reviews.policies.trials import run as try_by_api
from tests.support.builders import start_run, step
from tests.support.people import rule

SEVERITY = ["continue", "checkpoint", "throttle", "pause", "stop"]
CALL_SEVERITY = ["allow", "warn", "require-confirmation", "block"]
ASKING = {"pause", "require-confirmation"}
COMMANDS = ["ls", "pytest -q", "rm -rf build", "git push --force"]


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


RULES = {"delete-folder": "block", "git-push-force": "warn"}


def recompute_call(payload: dict[str, Any]) -> str:
    """What a call would have come to with these rules."""
    found: list[str] = [
        RULES.get(finding["details"].get("rule"), finding["decision"])
        for finding in payload["findings"]
    ]
    return max(["allow", *found], key=CALL_SEVERITY.index)


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
            asked = command(agent, run, chance.choice(COMMANDS))
            if asked["review"]:
                ruling = chance.choice(["approve", "deny"])
                rule(reviewer, asked["review"]["id"], ruling)
    return run


def read_export(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    text = agent.get(f"/runs/{run}/ledger").text
    return [json.loads(line) for line in text.splitlines()]


def test_a_recomputation_from_the_exported_ledger_gives_the_same_answer(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    chance = random.Random(20261116)
    runs = [live_through(agent, reviewer, chance) for _ in range(3)]
    limits = {"max_rework_ratio": 0.2, "max_uncertainty": 0.9}
    draft = {"continue": limits, "tools": {"rules": RULES}}
    expected: list[tuple[int, str, str]] = []
    calls: Counter[str] = Counter()
    people: Counter[str] = Counter()
    changed_runs = set()
    for run in reversed(runs):
        lines = read_export(agent, run)
        rulings = {
            line["payload"]["review"]: line["payload"]["action"]
            for line in lines
            if line["type"] == "review.ruled"
        }
        again = iter(recompute(lines, most=0.2, unsure=0.9))
        for line in lines:
            payload = line["payload"]
            if line["type"] == "step.judged":
                stored, now = payload["verdict"]["decision"], next(again)
                expected.append((line["seq"], stored, now))
            elif line["type"] == "call.judged":
                stored, now = payload["decision"], recompute_call(payload)
                calls[f"{stored}→{now}"] += 1
            else:
                continue
            if stored != now:
                changed_runs.add(run)
                ruling = rulings.get((payload.get("review") or {}).get("id"))
                wanted = "deny" if now in ("pause", "stop", "block") else "approve"
                said = "agree" if ruling == wanted else "disagree"
                people[said if ruling else "silent"] += 1

    items = judge_again(project, draft)
    steps = list_moves([item for item in items if item.kind.name == "step"])
    assert steps == expected

    found = try_by_api(manager, document=draft)
    moves = Counter(f"{before}→{after}" for _, before, after in expected)
    changed = {n: c for n, c in (moves + calls).items() if len(set(n.split("→"))) == 2}
    assert len(changed) > 3, "the runs are to show several kinds of change"
    assert found["state"] == "finished"
    assert found["moves"] == changed
    assert found["decisions"] == {"step": moves, "call": calls}
    assert found["changed"] == sum(changed.values())
    assert found["judged"] == moves.total() + calls.total()
    assert found["runs_changed"] == len(changed_runs)
    asks: Counter[tuple[bool, ...]] = Counter()
    for name, count in changed.items():
        asks[tuple(word in ASKING for word in name.split("→"))] += count
    assert found["would_have_asked"] == asks[False, True]
    assert found["would_not_have_asked"] == asks[True, False]
    agreement = found["agrees_with_people"]
    assert {each: agreement[each] for each in people} == people
    assert len(people) == 3, "the runs are to show every opinion"
