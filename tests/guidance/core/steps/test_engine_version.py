"""What is decided on a step changes only together with the version stored beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.runs.memory import CallTally, Memory
from guidance.core.runs.shared_limits import SharedUse
from guidance.core.runs.usage import Budget, Usage
from guidance.core.steps.gates import REGISTRY
from guidance.core.steps.judge_step import ENGINE_VERSION, StepVerdict
from guidance.core.vocabulary import INTENTS, STEP_DECISIONS
from tests.guidance.core.builders import (
    PASSED,
    UNLIMITED,
    make_policy,
    make_report,
    step,
    walk,
)

# The version, and a digest over the answers to the runs below, which do not change.
JUDGED = (
    3,
    "sha256:4b95af6079e49ec468619a22b1e9af5685bde5e1f8be951f83b7dde907578d84",
)

SMALL = Budget(tokens=60_000, tool_calls=40, time_ms=90_000, cost_micros=2_000_000)
TIGHT = make_policy(max_consecutive_steps=40, throttle_max_ms=15_000, repeat_limit=2)


def build_varied_step(number: int) -> dict[str, Any]:
    """A step whose facts go through their range, each at a pace of its own."""
    return {
        "tokens": 500 + number * 137 % 1_900,
        "tool_calls": number % 5,
        "duration_ms": number * 53 % 4_000,
        "cost_micros": number * 7_919 % 90_000,
        "rework": number % 7 < 2,
        "checkpoint": number % 31 == 0,
        "intent": None if number % 4 == 0 else INTENTS[number // 3 % len(INTENTS)],
        "signature": None if number % 11 == 0 else "abcab"[number // 9 % 5],
        "failed_calls": None if number % 6 == 0 else number % 3,
    }


def build_scored_step(number: int) -> dict[str, Any]:
    return build_varied_step(number) | {
        "coherence": number * 13 % 101 / 100,
        "uncertainty": number * 29 % 101 / 100,
    }


def build_confident_step(number: int) -> dict[str, Any]:
    confidences = (0.9, number * 17 % 100 / 100)
    return {"confidences": confidences, "signature": "abcd"[number % 4]}


def build_growing_step(number: int) -> dict[str, Any]:
    return {"tokens": 1000 + 40 * number + number % 3, "signature": f"step {number}"}


def judge_runs() -> list[StepVerdict]:
    numbers = range(1, 121)
    after_calls = Memory(calls=CallTally(granted=3, settled=3, failed=2, weight=1.5))
    long_run = walk(map(build_varied_step, numbers), budget=SMALL)
    return [
        *long_run,
        *walk(
            map(build_varied_step, numbers),
            policy=TIGHT,
            budget=SMALL,
            memory=after_calls,
        ),
        *walk(map(build_scored_step, numbers), budget=replace(SMALL, tokens=None)),
        *walk(map(build_confident_step, numbers)),
        *walk(map(build_growing_step, numbers), policy=TIGHT),
        *walk(
            map(build_growing_step, numbers), memory=long_run[-1].memory.start_segment()
        ),
        *walk(map(build_growing_step, range(1, 12)), waited_ms=3_000),
        step(make_report(), turns_repeat=2, budget=UNLIMITED),
        step(make_report(), budget=SMALL, running_ms=90_001),
        step(make_report(), shared=SharedUse(below=Usage(tokens=7), limits=(PASSED,))),
    ]


def test_the_runs_bring_out_every_gate_and_every_decision() -> None:
    verdicts = judge_runs()
    assert {found.gate for verdict in verdicts for found in verdict.findings} == set(
        REGISTRY
    )
    assert {verdict.decision for verdict in verdicts} == set(STEP_DECISIONS)


def test_other_answers_take_the_next_version() -> None:
    found = [verdict.to_json() for verdict in judge_runs()]

    assert (ENGINE_VERSION, hash_text(to_canonical_json(found))) == JUDGED, (
        "The gates decide something else than they did, or in other words. Replay judges "
        "again what has the same version: raise ENGINE_VERSION, then write both here."
    )
