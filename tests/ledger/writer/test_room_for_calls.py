"""The second look at calls: what is counted by the commit itself must leave room for them.

Each case is read as it stands after the writes were counted, with no call that would have
been refused before: the first look has let all of them through.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from accounts.models import Project
from guidance.core.runs.usage import Budget, Usage
from ledger.models import SharedUse
from ledger.state import RunState
from ledger.writer.run_writes import RunWrite
from ledger.writer.shared_use import NoRoom, refuse_crowded_calls
from tests.support.builders import make_policy, make_robot
from tests.support.run_states import build_open_review, build_run

# Of no stored run: what counts is read by these ids.
_IDS = count(2**40)


def build_state(project: Project, limits: dict[str, Any], **parts: Any) -> RunState:
    policy = make_policy("default", project=project, limits=limits)
    return build_run(
        id=next(_IDS),
        project_id=project.pk,
        agent_id=make_robot(project=project).principal.agent_id,
        policy_id=policy.pk,
        **parts,
    )


def count_use(scope: str, owner: int, period: str = "", **amounts: int) -> None:
    SharedUse.objects.create(scope=scope, owner=owner, period=period, **amounts)


def list_crowded(*states: RunState, takes_calls: bool = True) -> set[int]:
    writes = [
        RunWrite(old_hash="", state=state, takes_calls=takes_calls) for state in states
    ]
    try:
        refuse_crowded_calls(writes)
    except NoRoom as crowded:
        return set(crowded.run_ids)
    return set()


@pytest.mark.parametrize(
    ("limit", "used", "waiting", "below", "crowded"),
    [
        (3, 2, 0, 1, False),
        (3, 2, 0, 2, True),
        (3, 1, 1, 1, False),
        (3, 1, 1, 2, True),
        (3, 3, 0, 0, False),
        (3, 4, 0, 0, True),
        (None, 4, 1, 9, False),
    ],
)
def test_its_own_budget_is_looked_at_again_with_what_runs_below_took(
    project: Project,
    limit: int | None,
    used: int,
    waiting: int,
    below: int,
    crowded: bool,
) -> None:
    """No limit is shared but its own, which only the runs below it use as well."""
    reviews = [build_open_review(kind="confirmation") for _ in range(waiting)]
    state = build_state(
        project,
        {},
        budget=Budget(tool_calls=limit, tokens=1),
        used=Usage(tool_calls=used, tokens=9),
        open_reviews=(build_open_review(), *reviews),
    )
    count_use("run", state.id, tool_calls=below, tokens=9)
    assert list_crowded(state) == ({state.id} if crowded else set())
    assert list_crowded(state, takes_calls=False) == set()


@pytest.mark.parametrize(
    ("limits", "counted", "crowded"),
    [
        ({"agent_day": {"tool_calls": 3}}, {"tool_calls": 3}, False),
        ({"agent_day": {"tool_calls": 3}}, {"tool_calls": 4}, True),
        # Steps pass a limit of these, and calls are judged by it the next time.
        ({"agent_day": {"tokens": 3}}, {"tokens": 9, "tool_calls": 9}, False),
        ({"agent_day": {"cost_usd": "1"}}, {"cost_micros": 2_000_000}, False),
    ],
)
def test_a_shared_limit_of_calls_is_looked_at_again(
    project: Project, limits: dict[str, Any], counted: dict[str, int], crowded: bool
) -> None:
    state = build_state(project, limits, budget=Budget(tool_calls=None))
    day = f"{state.updated_at:%Y-%m-%d}"
    count_use("agent", state.agent_id, day, **counted)
    # Of another day, and of another agent.
    count_use("agent", state.agent_id, "2026-01-01", tool_calls=9)
    other = make_robot("other", project=project).principal.agent_id
    count_use("agent", other, day, tool_calls=9)
    assert list_crowded(state) == ({state.id} if crowded else set())


def test_only_those_without_room_decide_again(project: Project) -> None:
    crowded, other = (
        build_state(project, {}, budget=Budget(tool_calls=3)) for _ in range(2)
    )
    count_use("run", crowded.id, tool_calls=4)
    count_use("run", other.id, tool_calls=3)
    assert list_crowded(other, crowded) == {crowded.id}
