"""Figures thrown away and counted anew, and figures compared with the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC

from django.db import transaction

from accounts.models import Agent
from ledger.models import Interval, PeriodCount, PeriodTotals, StatisticsCursor
from ledger.statistics.counting import SLICE, count_project
from ledger.statistics.slices import COLUMNS, Figures, Key, read_slice

OnProgress = Callable[[int], None]
# Somebody counts all the time: what is read must be of one moment.
_ATTEMPTS = 20


class StatisticsBusy(Exception):
    """The figures moved at every attempt to read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A number that the ledger has otherwise."""

    key: Key
    what: str
    stored: int
    counted: int

    def describe(self, *, agents: dict[int, str]) -> str:
        key = self.key
        at = key.at.astimezone(UTC)
        when = (
            f"{at:%Y-%m-%d}"
            if key.interval == Interval.DAY
            else f"{at:%Y-%m-%d %H}:00 UTC"
        )
        of_model = f", model {key.model}" if key.model else ""
        label = f", label {key.label_name}={key.label_value}" if key.label_name else ""
        return (
            f"{key.interval} {when}, agent {agents.get(key.agent_id, key.agent_id)}"
            f"{of_model}, intent {key.intent}, policy {key.policy}{label}: "
            f"{self.what} is {self.stored:,}, the ledger says {self.counted:,}"
        )


def rebuild_statistics(
    *, project_id: int, on_progress: OnProgress | None = None
) -> int:
    """Returns how many entries were counted. Whoever else counts meanwhile helps."""
    with transaction.atomic():
        StatisticsCursor.objects.update_or_create(
            project_id=project_id, defaults={"position": 0, "at": None}
        )
        PeriodTotals.objects.filter(project_id=project_id).delete()
        PeriodCount.objects.filter(project_id=project_id).delete()
    return count_project(project_id=project_id, on_progress=on_progress)


def list_differences(
    *, project_id: int, on_progress: OnProgress | None = None
) -> list[Difference]:
    """Recount all entries that the figures stand for, and compare."""
    position, stored = _read_stored(project_id)
    counted = Figures()
    for after in range(0, position, SLICE):
        upto = min(after + SLICE, position)
        counted.add(read_slice(project_id=project_id, after=after, upto=upto))
        if on_progress is not None:
            on_progress(upto)
    return sorted(_compare(stored, counted), key=lambda each: (each.key, each.what))


def list_agent_names(*, project_id: int) -> dict[int, str]:
    return dict(Agent.objects.filter(project_id=project_id).values_list("pk", "name"))


def _read_stored(project_id: int) -> tuple[int, Figures]:
    for _ in range(_ATTEMPTS):
        before = _get_position(project_id)
        figures = Figures()
        for sums in PeriodTotals.objects.filter(project_id=project_id).values_list(
            *Key._fields, *COLUMNS
        ):
            key = Key(*sums[: len(Key._fields)])
            figures.totals[key] = list(sums[len(Key._fields) :])
        for *key_values, kind, name, number in PeriodCount.objects.filter(
            project_id=project_id
        ).values_list(*Key._fields, "kind", "key", "count"):
            figures.counts[Key(*key_values), kind, name] = number
        if _get_position(project_id) == before:
            return before, figures
    raise StatisticsBusy


def _get_position(project_id: int) -> int:
    cursors = StatisticsCursor.objects.filter(pk=project_id)
    return cursors.values_list("position", flat=True).first() or 0


def _compare(stored: Figures, counted: Figures) -> Iterator[Difference]:
    nothing = [0] * len(COLUMNS)
    for key in stored.totals.keys() | counted.totals.keys():
        ours = stored.totals.get(key, nothing)
        theirs = counted.totals.get(key, nothing)
        for name, mine, other in zip(COLUMNS, ours, theirs, strict=True):
            if mine != other:
                yield Difference(key=key, what=name, stored=mine, counted=other)
    for named in stored.counts.keys() | counted.counts.keys():
        key, kind, name = named
        mine, other = stored.counts.get(named, 0), counted.counts.get(named, 0)
        if mine != other:
            what = f"{kind} {name}"
            yield Difference(key=key, what=what, stored=mine, counted=other)
