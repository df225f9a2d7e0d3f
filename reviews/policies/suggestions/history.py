"""What the steps of stored runs measured, and how people ended each stretch of them.

One pass over the entries that say so, a page at a time. Only figures that the version in
force would measure in the same way are compared with its limits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from guidance.core.policy import Policy
from guidance.core.runs.usage import Budget
from guidance.core.suggestions.limits import LIMITS, Number
from guidance.core.suggestions.trade_off import (
    APPROVED,
    COMPLETED,
    SILENT,
    STOPPED,
    Case,
    TradeOff,
)
from guidance.core.vocabulary import get_severity
from guidance.models import PolicyVersion
from guidance.selectors import LoadedPolicy, get_policy
from ledger.backtest.figures import (
    StepFigures,
    find_reader,
    list_measured_types,
)
from ledger.backtest.history import StoredEntry, list_entry_pages, list_run_batches
from ledger.models import Run
from ledger.verification.unreadable import refuse_other

# Beside the steps: what a run may use, and how a stretch of it ends.
_TYPES = ("run.started", "run.reopened", "review.ruled", "run.aborted", "run.finished")
# The newest runs first: more steps would say the same, and take longer to read.
STEPS_LIMIT = 500_000
_PERSON = "user:"


@dataclass(slots=True)
class LimitSearch:
    """What is counted for every limit of a policy. `other` steps were measured in another
    way, or cannot be read."""

    policy: LoadedPolicy
    project_id: int
    trade_offs: list[TradeOff] = field(default_factory=list)
    steps: int = 0
    runs: int = 0
    other: int = 0
    counted_all: bool = True
    _known: dict[tuple[int, str], _Measured | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = (TradeOff.from_policy(limit, self.policy.policy) for limit in LIMITS)
        self.trade_offs = [each for each in found if each is not None]

    def find_measured(self, stamp: Mapping[str, Any]) -> _Measured | None:
        """The version that a step was judged by, if it is one of this policy."""
        if stamp["name"] != self.policy.name:
            return None
        key = stamp["version"], stamp["hash"]
        if key not in self._known:
            self._known[key] = self._load(*key)
        return self._known[key]

    def _load(self, version: int, stored_hash: str) -> _Measured | None:
        row = PolicyVersion.objects.filter(
            project_id=self.project_id,
            name=self.policy.name,
            version=version,
            hash=stored_hash,
        ).first()
        if row is None:
            return None
        own = get_policy(row.pk).policy
        return _Measured(
            own,
            [
                (place, trade_off)
                for place, trade_off in enumerate(self.trade_offs)
                if trade_off.limit.is_comparable(own, self.policy.policy)
            ],
        )


class _Measured(NamedTuple):
    """A version that steps were judged by, and the limits it measures alike."""

    policy: Policy
    trade_offs: list[tuple[int, TradeOff]]


def read_history(
    search: LimitSearch,
    runs: QuerySet[Run],
    *,
    since: datetime,
    until: datetime,
) -> Iterator[int]:
    """Count the steps of these runs; gives how many entries each page stands for."""
    types = [*list_measured_types(), *_TYPES]
    for batch in list_run_batches(runs):
        if search.steps >= STEPS_LIMIT:
            search.counted_all = False
            return
        walks = {run.pk: _RunWalk(run.pk, search, since) for run in batch}
        for page in list_entry_pages(batch, until=until, types=types):
            for run_id, entries in page.items():
                for entry in entries:
                    walks[run_id].take(entry)
            # The rest of a run that is read by pages.
            yield 0
        for walk in walks.values():
            walk.end(SILENT)
        search.runs += len(batch)
        yield sum(run.head_seq for run in batch)


class _RunWalk:
    """One run from its first entry on, stretch by stretch."""

    def __init__(self, run_id: int, search: LimitSearch, since: datetime) -> None:
        self._run_id = run_id
        self._search = search
        self._since = since
        self._budget = Budget()
        # By limit: how far this stretch came, and the figure of that step.
        self._furthest: dict[int, tuple[int, Number]] = {}

    def take(self, entry: StoredEntry) -> None:
        read = find_reader(entry.type)
        if read is not None and entry.at < self._since:
            return
        self._search.steps += read is not None
        try:
            payload = json.loads(entry.payload or "")
            if read is None:
                self._take_event(entry, payload)
            else:
                self._measure(read(payload))
        except Exception as error:
            refuse_other(error)
            self._search.other += read is not None

    def _take_event(self, entry: StoredEntry, payload: Any) -> None:
        if entry.type == "run.started":
            self._budget = Budget(**payload["budget"])
        elif entry.type == "run.reopened":
            self._budget = Budget(**payload["budget"])
            self.end(APPROVED)
        elif entry.type == "review.ruled":
            if payload["kind"] == "pause" and payload["action"] == "approve":
                self.end(APPROVED)
        elif entry.type == "run.aborted":
            # Ended with a run above it, it was not looked at itself.
            by_person = entry.actor.startswith(_PERSON) and "above" not in payload
            self.end(STOPPED if by_person else SILENT)
        else:
            self.end(COMPLETED if _is_completed(payload) else SILENT)

    def _measure(self, step: StepFigures | None) -> None:
        own = self._search.find_measured(step.policy) if step else None
        if step is None or own is None:
            self._search.other += 1
            return
        for place, trade_off in own.trade_offs:
            limit = trade_off.limit
            figure = limit.measure(step.metrics, self._budget, own.policy)
            if figure is None or _is_decided_anyway(
                step.findings, limit.gate, limit.decision
            ):
                continue
            reach = trade_off.get_reach(figure)
            trade_off.add_step(reach)
            if reach >= self._furthest.get(place, (0, 0))[0]:
                self._furthest[place] = reach, figure

    def end(self, outcome: str) -> None:
        for place, (reach, figure) in self._furthest.items():
            case = Case(self._run_id, outcome, figure)
            self._search.trade_offs[place].add_case(case, reach)
        self._furthest = {}


def _is_completed(payload: Mapping[str, Any]) -> bool:
    """As the run was judged; before runs were judged, as its agent said."""
    return bool(payload.get("status", payload["outcome"]) == "completed")


def _is_decided_anyway(
    findings: Sequence[Mapping[str, Any]], gate: str, decision: str
) -> bool:
    """Whether another gate holds the step as strictly: then this limit changes nothing."""
    own = get_severity(decision)
    return any(
        each["gate"] != gate and get_severity(each["decision"]) <= own
        for each in findings
    )
