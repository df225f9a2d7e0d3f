"""What agents' entries add to the figures: steps, calls and what they cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.first_looks import count_compared
from gateway.running_time import READINGS, count_running_time
from guidance.core.plans.matching import is_answered
from ledger.models.new_entries import register_reading
from ledger.models.packing import unpack_text
from ledger.models.step_form import find_plain_step
from ledger.statistics.registry import Added, CountedEntry, register_counting
from ledger.statistics.run_counts import ENDING
from reviews.statistics.counts import BY_MODEL, BY_PERMISSION, BY_PLAN, NOT_ASKED

# Kinds of PeriodCount: findings of steps and of calls, and steps that were paused, by gate.
FINDING = "finding"
CALL_FINDING = "call_finding"
PAUSED_BY = "paused_by"


def register_counts() -> None:
    register_reading("step.judged", read_step)
    register_counting(("step.judged", "step.observed"), count_steps)
    register_counting(("call.judged",), count_calls)
    register_counting(("call.settled", "model.asked"), count_costs)
    register_counting(READINGS, count_running_time)
    register_counting(("review.ruled",), count_compared, of_system_runs=True)


def read_step(kept: str) -> dict[str, Any]:
    """What is counted and searched of a step. Of one that simply goes on, as most do, no
    more is read (bench steps)."""
    plain = find_plain_step(kept)
    if plain is None:
        whole: dict[str, Any] = json.loads(unpack_text(kept))
        return whole
    return {
        "report": {
            "cost_micros": plain.cost_micros,
            "rework": plain.rework,
            "signature": json.loads(plain.signature),
            "summary": json.loads(plain.summary),
            "tokens": plain.tokens,
            "tool_calls": plain.tool_calls,
        },
        "running_ms": plain.running_ms,
        "verdict": {
            "decision": "continue",
            "findings": (),
            "metrics": {"budget_slope": plain.slope},
        },
    }


def count_steps(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    for entry in entries:
        payload = entry.payload
        report, verdict = payload["report"], payload["verdict"]
        calls = report["tool_calls"] - payload.get("counted_calls", 0)
        totals = {
            "steps": 1,
            "tokens": report["tokens"],
            "tool_calls": max(0, calls),
            "cost_micros": report["cost_micros"],
            "steps_rework": int(report["rework"]),
        }
        if entry.type == "step.observed":  # nothing was decided
            yield Added(entry=entry, totals=totals)
            continue
        decision, findings = verdict["decision"], verdict["findings"]
        totals[f"steps_{decision}"] = 1
        totals["slope_micros"] = round(verdict["metrics"]["budget_slope"] * 1_000_000)
        totals["slope_count"] = 1
        counts = [(FINDING, finding["gate"]) for finding in findings]
        if decision == "pause":
            counts += [
                (PAUSED_BY, finding["gate"])
                for finding in findings
                if finding["decision"] == "pause"
            ]
        if decision == "stop":
            totals["runs_stopped"] = 1
            counts.append((ENDING, _find_stopping_gate(entry)))
        yield Added(entry=entry, totals=totals, counts=counts)


def _find_stopping_gate(entry: CountedEntry) -> str:
    """The gate that stopped the run, or the limit of open reviews that made a stop of a
    pause."""
    if "review_limit" in entry.payload:
        return "review_limit"
    findings = entry.payload["verdict"]["findings"]
    gate: str = next(each["gate"] for each in findings if each["decision"] == "stop")
    return gate


def count_calls(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    for entry in entries:
        payload = entry.payload
        decision = payload["decision"].replace("-", "_")
        totals = {f"calls_{decision}": 1}
        if payload["grant"] is not None:
            totals["tool_calls"] = 1
        counts = [(CALL_FINDING, finding["gate"]) for finding in payload["findings"]]
        if answered := _find_answer(payload):
            counts.append((NOT_ASKED, answered))
        yield Added(entry=entry, totals=totals, counts=counts)


def _find_answer(payload: Mapping[str, Any]) -> str:
    """What answered a call about which a person would have been asked; empty where nothing
    did."""
    if payload["permission"] is not None:
        return BY_PERMISSION
    if is_answered(payload):
        return BY_PLAN
    return BY_MODEL if (payload.get("first_look") or {}).get("settles") else ""


def count_costs(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    """Results that cost something, and what the server asked of models for a run."""
    for entry in entries:
        payload = entry.payload
        totals = {"cost_micros": payload["cost_micros"] or 0}
        if entry.type == "call.settled":
            totals["tokens"] = payload["tokens"]
        yield Added(entry=entry, totals=totals)
