"""What a commit stores of one run, the columns of its entries, and what it counts.

What runs use up together is counted in the commit that uses it. Only differences are
added (`RunWrite.spent`), so nobody has to read a counter before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from guidance.core.runs.shared_limits import NOTHING, PARTS, RUN, SharedLimit
from guidance.core.runs.usage import Usage
from ledger.chain import SealedEntry
from ledger.models.hashes import shorten_hash
from ledger.plan import Statement
from ledger.state import RunState, has_same_rare_values

ENTRY_COLUMNS: tuple[tuple[str, str], ...] = (
    ("run_id", "bigint"),
    ("project_id", "bigint"),
    ("version", "smallint"),
    ("seq", "bigint"),
    ("at", "timestamptz"),
    ("type", "text"),
    ("actor", "text"),
    ("payload", "text"),
    ("payload_sha256", "text"),
    ("prev_hash", "text"),
    ("hash", "text"),
    ("step_number", "bigint"),
    ("decision", "text"),
)
POSITION = ("position", "bigint")

# The scope, the id of its owner, and the day or the month.
Key = tuple[str, int, str]

AGENT_DAY = "agent_day"
COUNTERS = "ledger_shareduse"
# Every column is named: the database knows no defaults.
COUNTER_COLUMNS = (
    *("scope", "owner", "period"),
    *PARTS,
    *(f"{part}_extra" for part in PARTS),
    *(f"{part}_noticed" for part in PARTS),
)
ADD_ON_CONFLICT = "ON CONFLICT (scope, owner, period) DO UPDATE SET " + ", ".join(
    f"{part} = {COUNTERS}.{part} + excluded.{part}" for part in PARTS
)
ZEROS = ", ".join(["0"] * (len(COUNTER_COLUMNS) - 6))
_RAISE = (
    f"INSERT INTO {COUNTERS} ({', '.join(COUNTER_COLUMNS)}) "  # noqa: S608
    "VALUES (%s, %s, %s, 0, 0, 0, %s, %s, %s, 0, 0, 0) "
    "ON CONFLICT (scope, owner, period) DO UPDATE SET "
    + ", ".join(
        f"{part}_extra = {COUNTERS}.{part}_extra + excluded.{part}_extra, "
        f"{part}_noticed = CASE WHEN excluded.{part}_extra > 0 THEN 0 "
        f"ELSE {COUNTERS}.{part}_noticed END"
        for part in PARTS
    )
)
COUNT = (
    f"INSERT INTO {COUNTERS} ({', '.join(COUNTER_COLUMNS)}) "  # noqa: S608
    f"VALUES (%s, %s, %s, %s, %s, %s, {ZEROS}) {ADD_ON_CONFLICT}"
)


@dataclass(slots=True, kw_only=True)
class RunWrite:
    """All that one batch does to one run; `wakes` tells other processes at commit.

    `spent` is what it takes from limits that are shared; less than nothing where a call that
    waited will never run. `takes_calls` says that a call was let through, or may be by a
    person: what the run shares with others must have room for it. `halts_version` is the one
    by which it was decided, where halts were obeyed. `before` is the run as it is stored,
    where that is known. `shares_nothing`: it was decided as if nothing that it shares with
    others limited it, and is stored only if that holds.
    """

    old_hash: str
    state: RunState
    before: RunState | None = None
    spent: Usage = NOTHING
    entries: list[SealedEntry] = field(default_factory=list)
    wakes: bool = False
    takes_calls: bool = False
    halts_version: int | None = None
    shares_nothing: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether no more of the run changes than with every step."""
        return self.before is not None and has_same_rare_values(self.state, self.before)


def join_names(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for name, _ in columns)


def list_entry_rows(entries: Iterable[SealedEntry]) -> list[tuple[Any, ...]]:
    """The values of ENTRY_COLUMNS of each, in their order and as they are kept."""
    rows = []
    head = kept_head = ""
    for *facts, _, hashed, prev, sealed, step_number, decision, kept in entries:
        # Mostly it is the hash of the entry before (bench batches).
        kept_prev = kept_head if prev == head else shorten_hash(prev)
        head, kept_head = sealed, shorten_hash(sealed)
        rows.append(
            (
                *facts,
                kept,
                shorten_hash(hashed),
                kept_prev,
                kept_head,
                step_number,
                decision,
            )
        )
    return rows


@lru_cache(maxsize=16)
def list_periods(at: datetime) -> tuple[str, str]:
    """The day and the month that a moment counts for, in UTC."""
    day = at.astimezone(UTC).date().isoformat()
    return day, day[:7]


def build_scope_keys(
    *, agent_id: int | None, project_id: int, at: datetime
) -> dict[str, Key]:
    """Where the limits of each scope are counted; those of an agent only with one."""
    day, month = list_periods(at)
    of_agent = {} if agent_id is None else {AGENT_DAY: ("agent", agent_id, day)}
    return {
        **of_agent,
        "project_day": ("project", project_id, day),
        "project_month": ("project", project_id, month),
    }


def count_spent(writes: Iterable[RunWrite]) -> dict[Key, Usage]:
    """What these writes add to each counter."""
    sums: dict[Key, list[int]] = defaultdict(lambda: [0, 0, 0])
    for write in writes:
        spent = write.spent
        added = (spent.tokens, spent.tool_calls, spent.cost_micros)
        if added == (0, 0, 0):
            continue
        state = write.state
        of_runs = [(RUN, above, "") for above in state.ancestors]
        for key in (*of_runs, *_list_counters(state)):
            counter = sums[key]
            for place, number in enumerate(added):
                counter[place] += number
    return {key: Usage(**dict(zip(PARTS, sums[key], strict=True))) for key in sums}


def build_count_statement(key: Key, spent: Usage) -> Statement:
    """Add to one counter, whether or not it is there yet."""
    return Statement(COUNT, list_count_values(key, spent))


def list_count_values(key: Key, spent: Usage) -> list[Any]:
    """For the placeholders of `COUNT`."""
    return [*key, *(getattr(spent, part) for part in PARTS)]


def build_raise_statement(key: Key, more: Usage) -> Statement:
    """Give more on top of a limit; notices of what was raised come anew."""
    return Statement(_RAISE, [*key, *(getattr(more, part) for part in PARTS)])


def build_notice_statement(limit: SharedLimit, percent: int) -> Statement:
    """Remember what a notice told of, so that no other one tells it again."""
    assert limit.part in PARTS
    assert limit.key is not None
    text = (
        f"UPDATE {COUNTERS} SET {limit.part}_noticed = %s "  # noqa: S608 (one of PARTS)
        "WHERE scope = %s AND owner = %s AND period = %s"
    )
    return Statement(text, [percent, *limit.key])


def _list_counters(state: RunState) -> tuple[Key, ...]:
    day, month = list_periods(state.updated_at)
    project = state.project_id
    return (
        ("agent", state.agent_id, day),
        ("project", project, day),
        ("project", project, month),
    )
