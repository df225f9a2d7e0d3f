"""What was decided before and after versions of a policy came into force.

Counted over the newest entries of the time from one activation to the next, as far as
they are decisions of runs of this policy: a page has to come at once, however long the
project lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    Func,
    IntegerField,
    Max,
    Q,
    Value,
    When,
)

from accounts.models import SYSTEM_POLICIES
from guidance.models import PolicyActivation
from ledger.models import Entry, Run

# Of activations, the newest; of entries between two of them, the newest.
ACTIVATIONS = 12
ENTRIES = 2_000
_ASKING = ("pause", "require-confirmation")
_ENDING = ("stop", "block")


@dataclass(slots=True)
class Decided:
    """How many steps and calls were judged, and how many of them asked a person, or
    were stopped or blocked."""

    decisions: int = 0
    asked: int = 0
    stopped: int = 0

    def add(self, decision: str, count: int) -> None:
        self.decisions += count
        self.asked += count if decision in _ASKING else 0
        self.stopped += count if decision in _ENDING else 0


class Around(NamedTuple):
    """`before` is None for the first activation."""

    before: Decided | None
    after: Decided


def count_around_activations(
    *, project_id: int, name: str, activations: Sequence[PolicyActivation]
) -> Mapping[int, Around]:
    """By the id of the activation; of some of these, the newest first."""
    positions = _find_positions(project_id, [act.at for act in activations])
    known = [act for act in activations if act.at in positions]
    if not known:
        return {}
    marks = [positions[act.at] for act in known]
    if len(activations) > len(known):
        marks.append(0)  # the policy was in force before its chain began
    marks = marks[: ACTIVATIONS + 1]
    spans = list(zip(marks, [_find_newest(project_id), *marks], strict=False))
    decided = _count(project_id, name, spans)
    befores = [*decided[1:], None]
    return {
        act.pk: Around(before=before, after=after)
        for act, before, after in zip(
            known[:ACTIVATIONS], befores, decided, strict=False
        )
    }


def _find_positions(
    project_id: int, moments: Sequence[datetime]
) -> Mapping[datetime, int]:
    """Where the activations of these moments stand among all entries of the project.

    The policies' own chain is found first: by its run an index has its entries, by the
    time none has, and all entries of the project would be read.
    """
    chain = Run.objects.filter(project_id=project_id, agent__name=SYSTEM_POLICIES)
    entries = Entry.objects.filter(
        run_id__in=list(chain.values_list("pk", flat=True)),
        type="policy.activated",
        at__in=moments,
    )
    return dict(entries.values_list("at", "position"))


def _find_newest(project_id: int) -> int:
    entries = Entry.objects.filter(project_id=project_id)
    return entries.aggregate(newest=Max("position"))["newest"] or 0


def _build_decision_expression() -> Case:
    """Steps have it in a column, calls in what was recorded of them, if that is there."""
    templates = {
        "sqlite": "json_extract(%(expressions)s, '$.decision')",
        "postgresql": "(%(expressions)s::json ->> 'decision')",
    }
    recorded = Func(
        F("payload"),
        template=templates[connection.vendor],
        output_field=CharField(),
    )
    whole = Q(type="call.judged", payload__startswith="{", payload__endswith="}")
    return Case(When(whole, then=recorded), default=F("decision"))


def _count(
    project_id: int, name: str, spans: Sequence[tuple[int, int]]
) -> list[Decided]:
    within = [
        Q(position__gt=max(begin, end - ENTRIES), position__lte=end)
        for begin, end in spans
    ]
    chosen = Q()
    for each in within:
        chosen |= each
    rows = (
        Entry.objects.filter(chosen, project_id=project_id, run__policy__name=name)
        .filter(type__in=("step.judged", "call.judged"))
        .annotate(
            span=Case(
                *(When(each, then=Value(n)) for n, each in enumerate(within)),
                output_field=IntegerField(),
            ),
            decided=_build_decision_expression(),
        )
        .values_list("span", "decided")
        .annotate(count=Count("pk"))
    )
    counted = [Decided() for _ in spans]
    for span, decision, count in rows.order_by():
        counted[span].add(decision, count)
    return counted
