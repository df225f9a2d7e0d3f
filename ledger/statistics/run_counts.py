"""What the ledger's own entries add: runs that start and end, and why they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledger.statistics.registry import Added, CountedEntry, register_counting

# Kinds of PeriodCount.
ENDING = "ending"
EVALUATOR_FAILED = "evaluator_failed"
# Why a run ended, where no gate is named. Others stand as `cause` in the entry.
COMPLETED, AGENT_FAILED, EVALUATORS = "completed", "agent_failed", "evaluators"
SILENT, UNKNOWN = "silent", "unknown"


def register_run_counts() -> None:
    register_counting(("run.started", "run.reopened"), count_starts)
    register_counting(("run.finished",), count_finishes)
    register_counting(("run.aborted", "run.abandoned", "run.stopped"), count_closings)


def count_starts(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    for entry in entries:
        started = entry.type == "run.started"
        yield Added(
            entry=entry, totals={"runs_started" if started else "runs_reopened": 1}
        )


def count_finishes(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    for entry in entries:
        payload = entry.payload
        # Before runs were judged, they ended as their agents said.
        status = payload.get("status", payload["outcome"])
        if status not in {"completed", "failed"}:
            raise ValueError(f"no run finishes as {status}")
        totals = {f"runs_{status}": 1}
        accepted = payload.get("accepted")
        if accepted is not None:
            totals["runs_accepted" if accepted else "runs_not_accepted"] = 1
        failed = [
            (EVALUATOR_FAILED, each["name"])
            for each in payload.get("evaluations", ())
            if each["passed"] is False
        ]
        if status == "completed":
            cause = COMPLETED
        else:
            cause = AGENT_FAILED if payload["outcome"] == "failed" else EVALUATORS
        yield Added(entry=entry, totals=totals, counts=[(ENDING, cause), *failed])


def count_closings(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    for entry in entries:
        status = entry.type.removeprefix("run.")
        silent = SILENT if status == "abandoned" else UNKNOWN
        cause = entry.payload.get("cause", silent)
        yield Added(entry=entry, totals={f"runs_{status}": 1}, counts=[(ENDING, cause)])
