"""Rows as entries make them: each kind of entry says what it does to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reviews.models import APPROVING, GrantState, Kind

Payload = Mapping[str, Any]
Key = tuple[str, ...]
# For a column of which an older entry says nothing: it is not compared.
UNKNOWN = object()


class EntryOrigin(NamedTuple):
    """Where an entry stands, when it was made and by whom."""

    seq: int
    at: str
    actor: str


@dataclass(slots=True)
class Expected:
    """One row; `seq` is the last entry that changed it. `count` is more than 1 where
    several entries tell of equal rows. `may_be_gone`: a sweep deletes it, sooner or later."""

    seq: int
    values: dict[str, Any]
    count: int = 1
    may_be_gone: bool = False

    def change(self, now: EntryOrigin, **values: Any) -> None:
        self.seq = now.seq
        self.values |= values


@dataclass(slots=True)
class ExpectedRows:
    """All rows of one run: by table, then by what names a row there."""

    run_code: str
    project_id: int
    tables: dict[str, dict[Key, Expected]] = field(default_factory=dict)
    call_by_review: dict[str, str] = field(default_factory=dict)
    seq: int = 0

    def get_table(self, table: str) -> dict[Key, Expected]:
        return self.tables.setdefault(table, {})

    def add(self, table: str, *key: str, now: EntryOrigin, **values: Any) -> None:
        before = self.get_table(table).get(key)
        count = 1 if before is None else before.count + 1
        self.get_table(table)[key] = Expected(now.seq, values, count)

    def take(self, entry_type: str, payload: Payload, now: EntryOrigin) -> None:
        """What this entry does to the rows. Many types do nothing."""
        self.seq = now.seq
        take = _TAKES.get(entry_type)
        if take is not None:
            take(self, payload, now)

    def revoke_grants(self, now: EntryOrigin) -> None:
        """The run was closed."""
        for grant in self.get_table("grant").values():
            if grant.values["state"] == GrantState.ISSUED:
                grant.change(now, state=GrantState.REVOKED.value, ended_at=now.at)

    def mark_regretted(self, now: EntryOrigin) -> None:
        """The run ended badly: see `mark_regretted` of `reviews.plan`."""
        facts = self.get_table("ruling fact").items()
        others = [pair for pair in facts if pair[1].values["action"] != "abort"]
        if not others:
            return
        (review,), last = others[-1]
        if last.values["action"] in APPROVING and self._was_used(review, last):
            last.change(now, regretted=True)

    def mark_failed_call(self, call: str, now: EntryOrigin) -> None:
        """A call failed that a person had let run."""
        for review, asked in self.call_by_review.items():
            ruled = self.get_table("ruling fact").get((review,))
            if asked == call and ruled and ruled.values["action"] in APPROVING:
                ruled.change(now, regretted=True)

    def _was_used(self, review: str, ruled: Expected) -> bool:
        if ruled.values["kind"] != Kind.CONFIRMATION:
            return True
        call = self.call_by_review.get(review, "")
        grant = self.get_table("grant").get((call,))
        return grant is not None and grant.values["state"] == GrantState.SPENT


Take = Callable[[ExpectedRows, Payload, EntryOrigin], None]
_TAKES: dict[str, Take] = {}


def register_entry_rows(entry_type: str, take: Take) -> None:
    """Say at start-up what entries of one kind do to these rows."""
    _TAKES[entry_type] = take


def list_types() -> list[str]:
    """The entry types that change a row, but for steps: those that do are found by what
    they decided."""
    return [name for name in _TAKES if not name.startswith("step.")]
