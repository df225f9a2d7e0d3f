"""How a finished run was judged, one cell for each evaluator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from console.format import format_count
from ledger.models import Run, RunOutcome
from safetext import make_visible_line

Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCell:
    """`evidence` says in a few words what the judgement rests on."""

    name: str
    word: str
    icon: str
    tone: str
    message: str
    source: str
    evidence: str


_LOOKS = {
    True: ("passed", "done", "go"),
    False: ("failed", "fail", "stop"),
    None: ("not known", "dot", "mute"),
}


def build_evaluations(run: Run) -> tuple[EvaluationCell, ...]:
    """Needs `outcome` to be loaded with the run; empty until it has finished."""
    outcome: RunOutcome | None = getattr(run, "outcome", None)
    if outcome is None:
        return ()
    return tuple(map(_build_cell, json.loads(outcome.evaluations)))


def _build_cell(evaluation: Mapping[str, Any]) -> EvaluationCell:
    word, icon, tone = _LOOKS[evaluation["passed"]]
    describe = _EVIDENCE.get(evaluation["name"])
    known = evaluation["source"] is not None and describe is not None
    return EvaluationCell(
        name=evaluation["name"],
        word=word,
        icon=icon,
        tone=tone,
        message=make_visible_line(evaluation["message"]),
        source=evaluation["source"] or "",
        evidence=describe(evaluation["details"]) if known and describe else "",
    )


def _describe_tests(details: Details) -> str:
    results = len(details.get("said", ()))
    return "1 result" if results == 1 else f"the worst of {results:,} results"


def _describe_diff(details: Details) -> str:
    return format_count(details.get("seen") or details.get("reported") or 0, "line")


def _describe_violations(details: Details) -> str:
    return format_count(details.get("work", 0), "step and call", "steps and calls")


def _describe_commands(details: Details) -> str:
    return f"{details.get('ran', 0):,} ran, {details.get('blocked', 0):,} blocked"


def _describe_dependencies(details: Details) -> str:
    return f"{details.get('added', 0):,} added"


_EVIDENCE: Mapping[str, Callable[[Details], str]] = {
    "tests-pass": _describe_tests,
    "diff-quality": _describe_diff,
    "violation-rate": _describe_violations,
    "forbidden-commands": _describe_commands,
    "forbidden-dependencies": _describe_dependencies,
}
