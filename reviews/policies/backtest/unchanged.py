"""The decisions that a draft leaves as they are: kept by their places alone, as there may be
a hundred thousand of them, and read from the ledger for the page that is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, overload

from django.db.models import Q, QuerySet, Sum

from ledger.backtest.history import StoredEntry, read_stored_entries
from ledger.backtest.judges import BothJudgements, JudgedAgain, Subject, find_judge
from ledger.backtest.tally import name_move
from ledger.models import Entry, Run
from ledger.state import build_unstarted_state
from ledger.verification.unreadable import refuse_other
from reviews.models import Backtest, BacktestItem, BacktestUnchanged
from reviews.policies.backtest.people import SILENT


class Place(NamedTuple):
    """Where a decision stands in the ledger, and what it is."""

    kind: str
    decision: str
    run_id: int
    seq: int


def build_unchanged(
    backtest: Backtest, judged: Sequence[JudgedAgain]
) -> list[BacktestUnchanged]:
    """One row for each kind and decision among these."""
    places: dict[tuple[str, str], dict[int, list[int]]] = {}
    for item in judged:
        if not isinstance(item.outcome, BothJudgements):
            continue
        before, after = (each["decision"] for each in item.outcome)
        if before == after:
            runs = places.setdefault((item.kind.name, before), {})
            runs.setdefault(item.run_id, []).append(item.seq)
    return [
        BacktestUnchanged(
            backtest=backtest,
            kind=kind,
            decision=decision,
            count=sum(map(len, runs.values())),
            places=json.dumps(list(runs.items()), separators=(",", ":")),
        )
        for (kind, decision), runs in places.items()
    ]


class UnchangedItems(Sequence[BacktestItem]):
    """Rows as those of the decisions that change, though they are not stored: as far as
    `kind` and `decision` ask for them, the newest runs first."""

    def __init__(
        self, backtest: Backtest, *, kind: str = "", decision: str = ""
    ) -> None:
        wanted = {"kind": kind, "decision": decision}
        given = {name: value for name, value in wanted.items() if value}
        self._backtest = backtest
        self._rows: QuerySet[BacktestUnchanged] = backtest.unchanged.filter(
            **given
        ).order_by("pk")

    def __len__(self) -> int:
        return self._rows.aggregate(sum=Sum("count"))["sum"] or 0

    @overload
    def __getitem__(self, index: int) -> BacktestItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[BacktestItem]: ...
    def __getitem__(self, index: int | slice) -> BacktestItem | list[BacktestItem]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        first, last = index.start or 0, index.stop
        return _read_items(self._backtest, self._list_places(first, last))

    def _list_places(self, first: int, last: int) -> list[Place]:
        """Those from `first` to before `last`; only rows that hold one of them are read."""
        start, chosen, skipped = 0, [], 0
        for pk, count in self._rows.values_list("pk", "count"):
            if start + count <= first:
                skipped = start + count
            elif start < last:
                chosen.append(pk)
            else:
                break
            start += count
        rows = self._rows.filter(pk__in=chosen)
        places = [place for row in rows for place in _iterate_places(row)]
        return places[first - skipped : last - skipped]


class JudgedItems(Sequence[BacktestItem]):
    """All that was judged: first what changes, then what does not."""

    def __init__(self, changed: QuerySet[BacktestItem], same: UnchangedItems) -> None:
        self._changed, self._same = changed, same

    def __len__(self) -> int:
        return self._changed.count() + len(self._same)

    @overload
    def __getitem__(self, index: int) -> BacktestItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[BacktestItem]: ...
    def __getitem__(self, index: int | slice) -> BacktestItem | list[BacktestItem]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        changed = list(self._changed[index])
        before = self._changed.count()
        first, last = (max(end - before, 0) for end in (index.start or 0, index.stop))
        return [*changed, *self._same[first:last]]


def _iterate_places(row: BacktestUnchanged) -> Iterator[Place]:
    for run_id, numbers in json.loads(row.places):
        for seq in numbers:
            yield Place(row.kind, row.decision, run_id, seq)


def _read_items(backtest: Backtest, places: Sequence[Place]) -> list[BacktestItem]:
    if not places:
        return []
    run_ids = {place.run_id for place in places}
    runs = Run.objects.select_related("agent").in_bulk(run_ids)
    wanted = reduce(or_, (Q(run_id=each.run_id, seq=each.seq) for each in places))
    rows = read_stored_entries(Entry.objects.filter(wanted))
    entries = {(row.run_id, row.seq): row for row in rows}
    return [
        _build_item(
            backtest, place, runs[place.run_id], entries[place.run_id, place.seq]
        )
        for place in places
    ]


def _build_item(
    backtest: Backtest, place: Place, run: Run, entry: StoredEntry
) -> BacktestItem:
    subject = _describe(run, entry)
    judgement: Mapping[str, Any] = {"decision": place.decision, "findings": []}
    return BacktestItem(
        backtest=backtest,
        run=run,
        seq=place.seq,
        at=entry.at,
        kind=place.kind,
        step=subject.step,
        subject=subject.text,
        gate="",
        move=name_move(place.decision, place.decision),
        people=SILENT,
        judgements=json.dumps([judgement, judgement]),
    )


def _describe(run: Run, entry: StoredEntry) -> Subject:
    """What it was about, as far as its own entry says: a call does not name its step."""
    found = find_judge(entry.type)
    if found is None:
        return Subject(0, "")
    try:
        payload = json.loads(entry.payload or "")
        return found.describe(payload, build_unstarted_state(run))
    except Exception as error:
        refuse_other(error)
        return Subject(0, "")
