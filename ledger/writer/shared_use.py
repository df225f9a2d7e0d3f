"""What runs use up together: counted with every commit, read before every batch.

Every change of a run is counted for the runs above it, for its agent and its project, by
the difference that it makes (`RunWrite.spent`): additions commute, so nobody has to read
first. The project's head row is locked by then, and every counter belongs to one project:
two processes never wait for each other in a circle.

A step is judged by what was counted before its batch, so a limit is passed by at most the
steps in flight. A call is exact: `refuse_crowded_calls` reads the counters again inside of
the transaction that counted it, and where there was no room, nothing of the batch is stored
and the call is decided again under the project's lock (ADR 0025).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import Agent
from guidance.core.policy.limits import UNLIMITED, take_stricter
from guidance.core.runs.shared_limits import (
    NOTHING,
    NOTHING_SHARED,
    PARTS,
    RUN,
    SharedLimit,
    SharedUse,
    list_limits,
)
from guidance.core.runs.usage import Budget, Usage
from guidance.selectors import get_policy
from ledger.state import RunState
from ledger.writer import sql
from ledger.writer.run_writes import (
    AGENT_DAY,
    COUNTER_COLUMNS,
    COUNTERS,
    ZEROS,
    Key,
    RunWrite,
    build_scope_keys,
    list_periods,
)

# An agent's own limits come with what is counted, as rows of this scope.
OWN = "own"
_READ = f"SELECT {', '.join(COUNTER_COLUMNS)} FROM {COUNTERS} WHERE scope = "  # noqa: S608
_HAS_LIMITS = " OR ".join(f"{part}_limit IS NOT NULL" for part in PARTS)
_AGENTS = f"FROM {Agent._meta.db_table} WHERE id {{agents}} AND "
# What nothing is limited by does not come back: mostly there is no row (bench steps).
_FORM = f"""
{_READ} 'run' AND period = '' AND owner {{runs}}
UNION ALL
{_READ} 'agent' AND period = %s
  AND owner IN (SELECT id {_AGENTS} ({_HAS_LIMITS} OR id {{limited_agents}}))
UNION ALL
{_READ} 'project' AND period IN (%s, %s) AND owner {{projects}}
UNION ALL
SELECT '{OWN}', id, '', {", ".join(f"{part}_limit" for part in PARTS)}, {ZEROS}
{_AGENTS} ({_HAS_LIMITS})
"""
# For the statement that stores a run: whether anything beside its policy and the runs above
# limits what it uses together with others. EXISTS would be planned as a look at all agents.
LIMITED = (
    f"coalesce((SELECT true FROM {Agent._meta.db_table} "  # noqa: S608
    f"WHERE id = {{agent}} AND ({_HAS_LIMITS})), "
    f"(SELECT true FROM {COUNTERS} "
    f"WHERE scope = '{RUN}' AND owner = {{run}} AND period = ''), false)"
)
_LISTS = ("runs", "limited_agents", "agents", "projects")
_PG_READ = _FORM.format_map(dict.fromkeys(_LISTS, "= ANY(%s::bigint[])"))
_SQLITE_READ = _FORM.format_map(
    dict.fromkeys(_LISTS, "IN (SELECT value FROM json_each(%s))")
)
_ANCESTOR_COLUMNS = (
    *("id", "code", "open_reviews"),
    *(f"{part}_limit" for part in PARTS),
    *(f"{part}_used" for part in PARTS),
)
_ANCESTORS = f"SELECT {', '.join(_ANCESTOR_COLUMNS)} FROM ledger_run WHERE id "  # noqa: S608
_PG_ANCESTORS = _ANCESTORS + "= ANY(%s::bigint[])"
_SQLITE_ANCESTORS = _ANCESTORS + "IN (SELECT value FROM json_each(%s))"  # noqa: S608


class Counted(NamedTuple):
    """A row of the table: amounts used, given on top, and percentages told of."""

    used: Usage
    extra: Usage
    noticed: Usage


class Read(NamedTuple):
    """What the counters say, and by the ids of agents the limits of their own."""

    counted: dict[Key, Counted]
    own: dict[int, Budget]


class Ancestor(NamedTuple):
    """A run above: its budget, and what it has spent itself."""

    code: str
    budget: Budget
    spent: Usage


class NoRoom(Exception):
    """Calls that share a limit went past it together: `run_ids` have to decide again."""

    def __init__(self, run_ids: frozenset[int]) -> None:
        super().__init__(run_ids)
        self.run_ids = run_ids


_NEVER_COUNTED = Counted(NOTHING, NOTHING, NOTHING)


def read_shared_use(states: Sequence[RunState], at: datetime) -> dict[int, SharedUse]:
    """By the ids of the runs, with two queries at most."""
    read = _read_counted(states, at)
    above = _read_ancestors({each for state in states for each in state.ancestors})
    # Runs of one batch mostly share the same: it is built once (bench steps).
    list_of = cache(partial(_list_limits, read, above, at))
    shared = {}
    for state in states:
        limits = list_of(
            state.agent_id, state.project_id, state.policy_id, state.ancestors
        )
        below = read.counted.get((RUN, state.id, ""))
        shared[state.id] = (
            SharedUse(below=(below or _NEVER_COUNTED).used, limits=limits)
            if limits or below
            else NOTHING_SHARED
        )
    return shared


def is_known_to_share(state: RunState) -> bool:
    """Whether the run itself tells of limits that it shares with others."""
    return bool(state.ancestors) or _has_shared_limits(state.policy_id)


def refuse_crowded_calls(writes: Iterable[RunWrite]) -> None:
    """Called in the transaction that counted these writes: they are in what is read."""
    taking = [write.state for write in writes if write.takes_calls]
    if not taking:
        return
    shared = read_shared_use(taking, max(state.updated_at for state in taking))
    crowded = frozenset(
        state.id for state in taking if _is_crowded(state, shared[state.id])
    )
    if crowded:
        raise NoRoom(crowded)


def _list_limits(
    read: Read,
    above: dict[int, Ancestor],
    at: datetime,
    agent_id: int,
    project_id: int,
    policy_id: int,
    ancestors: Sequence[int],
) -> tuple[SharedLimit, ...]:
    """What a run of this agent, under this policy and below these runs, is limited by."""
    if not (ancestors or agent_id in read.own or _has_shared_limits(policy_id)):
        return ()
    keys = build_scope_keys(agent_id=agent_id, project_id=project_id, at=at)
    of_runs = (_list_limits_of_run(read.counted, above, each) for each in ancestors)
    of_scopes = (
        _list_limits_of_scope(read, scope, key, policy_id)
        for scope, key in keys.items()
    )
    return tuple(chain(*of_runs, *of_scopes))


def _list_limits_of_run(
    counted: dict[Key, Counted], above: dict[int, Ancestor], run_id: int
) -> tuple[SharedLimit, ...]:
    """The budget of a run above, used by itself and all runs below it."""
    run, key = above[run_id], (RUN, run_id, "")
    below = counted.get(key, _NEVER_COUNTED)
    return tuple(
        list_limits(
            RUN,
            budget=run.budget,
            used=_add(run.spent, below.used),
            noticed=below.noticed,
            key=key,
            run=run.code,
        )
    )


def _list_limits_of_scope(
    read: Read, scope: str, key: Key, policy_id: int
) -> tuple[SharedLimit, ...]:
    """What a policy limits for an agent or a project, or the agent itself has."""
    row = read.counted.get(key, _NEVER_COUNTED)
    budget = getattr(get_policy(policy_id).policy.limits, scope)
    if scope == AGENT_DAY:
        budget = take_stricter(budget, read.own.get(key[1], UNLIMITED))
    return tuple(
        list_limits(
            scope,
            budget=budget,
            used=row.used,
            extra=row.extra,
            noticed=row.noticed,
            key=key,
        )
    )


def _is_crowded(state: RunState, shared: SharedUse) -> bool:
    """Whether more calls may run than a limit allows; its own budget is one of them."""
    own = state.budget.tool_calls
    calls = state.spent.tool_calls + shared.below.tool_calls
    return (own is not None and calls > own) or any(
        limit.part == "tool_calls" and limit.used > limit.limit
        for limit in shared.limits
    )


def _read_counted(states: Sequence[RunState], at: datetime) -> Read:
    if not states:
        return Read({}, {})
    day, month = list_periods(at)
    policies = filter(_has_shared_limits, {state.policy_id for state in states})
    sharing = frozenset(policies)
    limited = [state for state in states if state.policy_id in sharing]
    runs = {state.id for state in states}.union(*(each.ancestors for each in states))
    agents = sql.format_ids({state.agent_id for state in states})
    of_agents = sql.format_ids({state.agent_id for state in limited})
    of_projects = sql.format_ids({state.project_id for state in limited})
    given = [sql.format_ids(runs), day, agents, of_agents, day, month, of_projects]
    form = _PG_READ if connection.vendor == "postgresql" else _SQLITE_READ
    read = Read({}, {})
    for scope, owner, period, *amounts in sql.execute(form, [*given, agents]):
        parts = _split(amounts)
        if scope == OWN:
            limits = dict(zip(PARTS, parts[0], strict=True))
            read.own[owner] = Budget(time_ms=None, **limits)
        else:
            read.counted[scope, owner, period] = Counted(*map(_build_usage, parts))
    return read


def _has_shared_limits(policy_id: int) -> bool:
    return get_policy(policy_id).policy.limits.are_shared


def _read_ancestors(ids: set[int]) -> dict[int, Ancestor]:
    if not ids:
        return {}
    is_pg = connection.vendor == "postgresql"
    form = _PG_ANCESTORS if is_pg else _SQLITE_ANCESTORS
    rows = sql.execute(form, [sql.format_ids(ids)])
    return {row[0]: _build_ancestor(row) for row in rows}


def _build_ancestor(row: sql.Row) -> Ancestor:
    _, code, reviews, *amounts = row
    limits, used = _split(amounts)
    spent = _build_usage(used)
    waiting = sum(kind == "confirmation" for _, kind, *_ in json.loads(reviews))
    return Ancestor(
        code=str(sql.parse_uuid(code)),
        budget=Budget(time_ms=None, **dict(zip(PARTS, limits, strict=True))),
        spent=_add(spent, Usage(tool_calls=waiting)),
    )


def _split(amounts: Sequence[Any]) -> list[Sequence[Any]]:
    size = len(PARTS)
    return [amounts[start : start + size] for start in range(0, len(amounts), size)]


def _build_usage(amounts: Sequence[int]) -> Usage:
    return Usage(**dict(zip(PARTS, amounts, strict=True)))


def _add(one: Usage, other: Usage) -> Usage:
    return Usage(**{part: getattr(one, part) + getattr(other, part) for part in PARTS})
