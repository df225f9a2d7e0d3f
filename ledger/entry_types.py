"""The registry of entry types: what an entry of each type does to its run.

The app that writes a type of entry registers it in its `transitions.py`, which its
`AppConfig.ready` calls:

    register_entry_type("review.claimed")                      # leaves the run as it is
    register_entry_type("review.opened", apply=apply_opened)   # moves the run's state

`apply` gets the run's state before the entry, the entry's payload and its time, and
returns the state after it. It must be pure: the writer calls it when the entry is made,
`ledger.verification.verify` when the chain is checked, and all must arrive at the same
row. How a type is judged again is registered with `verification.replay.register_replay`.

`count` is for entries whose totals and memory the writer takes from the gates' verdict:
it tells them from the facts alone, without judging again, under the run's policy. The
check of a chain uses it, and must arrive at the very row that the writer stored.

`columns` fills the columns `step_number` and `decision` of the entry from its payload, so
that steps are found without reading payloads; only steps have them.

A type stays registered for as long as any ledger has entries of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guidance.core.policy import Policy
from ledger.state import RunState

Payload = Mapping[str, Any]
Apply = Callable[[RunState, Payload, datetime], RunState]
Count = Callable[[RunState, Payload, datetime, Policy], RunState]
Columns = Callable[[Payload], tuple[int | None, str]]


def keep_run(run: RunState, _payload: Payload, _at: datetime) -> RunState:
    return run


def _get_no_columns(_payload: Payload) -> tuple[int | None, str]:
    return None, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryType:
    name: str
    apply: Apply
    columns: Columns
    count: Count | None = None


_types: dict[str, EntryType] = {}


def register_entry_type(
    name: str,
    *,
    apply: Apply = keep_run,
    columns: Columns = _get_no_columns,
    count: Count | None = None,
) -> None:
    _types[name] = EntryType(name=name, apply=apply, columns=columns, count=count)


def get_entry_type(name: str) -> EntryType:
    """An unknown type is an error, never an entry without effect."""
    try:
        return _types[name]
    except KeyError:
        raise ValueError(f"An entry of type {name} is not known.") from None


def list_entry_types() -> list[str]:
    return sorted(_types)


def apply_entry(
    run: RunState, entry_type: str, payload: Payload, at: datetime
) -> RunState:
    """The run's state after an entry of this type."""
    return get_entry_type(entry_type).apply(run, payload, at)


def count_entry(
    run: RunState, entry_type: str, payload: Payload, at: datetime, policy: Policy
) -> RunState:
    """The same with all totals and the whole memory, and nothing judged again."""
    known = get_entry_type(entry_type)
    if known.count is None:
        return known.apply(run, payload, at)
    return known.count(run, payload, at, policy)
