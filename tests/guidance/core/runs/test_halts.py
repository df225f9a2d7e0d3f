"""What a halt covers, and for how long something stood still by several of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.runs.halts import HaltScope, Interval, measure_halted

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
MINUTES = st.integers(min_value=0, max_value=60)


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


def covers(scope: HaltScope, *, run: int = 7, ancestors: tuple[int, ...] = ()) -> bool:
    labels = {"team": "shop:eu", "": "x"}
    return scope.covers(run_id=run, agent_id=3, labels=labels, ancestors=ancestors)


def test_a_scope_covers_what_it_names() -> None:
    assert covers(HaltScope())
    assert covers(HaltScope(agent_id=3))
    assert not covers(HaltScope(agent_id=4))
    assert covers(HaltScope(label="team:shop:eu"))
    assert not covers(HaltScope(label="team:shop"))
    assert covers(HaltScope(run_id=7))
    assert not covers(HaltScope(run_id=5), ancestors=(5,))
    assert covers(HaltScope(run_id=5, children=True), ancestors=(2, 5))
    assert not covers(HaltScope(run_id=5, children=True))


@given(st.lists(st.tuples(MINUTES, MINUTES), min_size=1, max_size=6), MINUTES)
def test_several_halts_give_back_each_minute_once(
    spans: list[tuple[int, int]], since: int
) -> None:
    halts = [Interval(minute(min(each)), minute(max(each))) for each in spans]
    halts.sort(key=lambda each: each.end)
    given_back = sum(
        (
            measure_halted(halt, earlier=halts[:number], since=minute(since))
            for number, halt in enumerate(halts)
        ),
        timedelta(0),
    )
    held = [
        each
        for each in range(since, 60)
        if any(halt.begin <= minute(each) < halt.end for halt in halts)
    ]
    assert given_back == timedelta(minutes=len(held))
