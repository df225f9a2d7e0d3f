"""What each value of a limit would have led to, and which one is suggested."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy import load_policy
from guidance.core.policy.differences import list_differences
from guidance.core.runs.usage import Budget
from guidance.core.suggestions.limits import LIMITS, get_limit, set_limit
from guidance.core.suggestions.trade_off import (
    APPROVED,
    CATCH_WORTH,
    COMPLETED,
    SILENT,
    STOPPED,
    Case,
    Point,
    TradeOff,
)

Cases = Iterable[tuple[str, float]]
# By hand, of a limit of 0.3: six runs that people aborted, four approved pauses and three
# runs that completed.
KNOWN = [
    *[(STOPPED, each) for each in (0.22, 0.25, 0.25, 0.28, 0.4, 0.6)],
    *[(APPROVED, each) for each in (0.31, 0.35, 0.2, 0.1)],
    *[(COMPLETED, each) for each in (0.0, 0.15, 0.2)],
]


def count_cases(
    cases: Cases, *, setting: str = "continue.max_rework_ratio"
) -> TradeOff:
    limit = get_limit(setting)
    found = TradeOff.from_policy(limit, load_policy({}))
    assert found is not None
    for number, (outcome, value) in enumerate(cases):
        reach = found.get_reach(value)
        found.add_step(reach)
        found.add_case(Case(number, outcome, value), reach)
    return found


def get_point(found: TradeOff, value: float) -> Point:
    return found.list_points()[found.values.index(value)]


def get_suggested(found: TradeOff) -> float | None:
    best = found.find_best()
    return None if best is None else found.values[best]


@pytest.mark.parametrize(
    ("value", "caught", "in_vain"),
    [
        (0.0, 6, 6),
        (0.14, 6, 5),
        (0.15, 6, 4),
        (0.19, 6, 4),
        (0.2, 6, 2),
        (0.21, 6, 2),
        (0.22, 5, 2),
        (0.25, 3, 2),
        (0.3, 2, 2),
        (0.31, 2, 1),
        (0.35, 2, 0),
        (0.4, 1, 0),
        (0.6, 0, 0),
        (1.0, 0, 0),
    ],
)
def test_each_value_is_counted(value: float, caught: int, in_vain: int) -> None:
    assert get_point(count_cases(KNOWN), value) == (value, caught, in_vain)


def test_the_smallest_change_to_the_best_value_is_suggested() -> None:
    """0.20 and 0.21 catch all six and hold two in vain; 0.21 is nearer to 0.3."""
    found = count_cases(KNOWN)
    assert get_suggested(found) == 0.21
    place = found.find_best()
    assert place is not None
    # 0.22, 0.25, 0.25 and 0.28 are over 0.21 and not over 0.3.
    assert found.count_changed_steps(place) == 4
    named = [case.value for case in found.list_changed_cases(place)]
    assert named == [0.22, 0.25, 0.25, 0.28]


def test_a_step_at_a_limit_itself_is_not_over_it() -> None:
    """Another number of steps at each value: no two sums of some of them are the same."""
    steps = {0.2: 1, 0.21: 2, 0.3: 4, 0.31: 8, 0.4: 16, 0.41: 32}
    found = count_cases(
        [(APPROVED, each) for each, times in steps.items() for _ in range(times)]
    )
    stricter, softer = found.values.index(0.2), found.values.index(0.4)
    assert found.count_changed_steps(stricter) == 2 + 4, "0.21 and 0.3 alone"
    assert found.count_changed_steps(softer) == 8 + 16, "0.31 and 0.4 alone"
    assert {case.value for case in found.list_changed_cases(stricter)} == {0.21, 0.3}
    assert {case.value for case in found.list_changed_cases(softer)} == {0.31, 0.4}


def test_a_softer_value_gives_nothing_up_that_today_catches() -> None:
    """Without the four below today's limit, 0.35 holds nobody in vain; 0.59 is as good by
    count, once one more is given up."""
    softer = [*KNOWN[4:], *[(STOPPED, 0.9)] * 4]
    found = count_cases(softer)
    assert get_suggested(found) == 0.35
    given_up = [(STOPPED, 0.31), *[(STOPPED, 0.9)] * 5, *[(APPROVED, 0.5)] * 40]
    assert get_suggested(count_cases(given_up)) is None


def test_a_catch_is_worth_so_many_questions_in_vain() -> None:
    base = [*[(STOPPED, 0.9)] * 5, *[(APPROVED, 0.0)] * 5, (STOPPED, 0.2)]
    few = [*base, *[(COMPLETED, 0.25)] * (CATCH_WORTH - 1)]
    many = [*base, *[(COMPLETED, 0.25)] * CATCH_WORTH]
    assert get_suggested(count_cases(few)) == 0.19
    assert get_suggested(count_cases(many)) is None


@pytest.mark.parametrize(
    ("stopped", "approved", "enough"),
    [(5, 5, True), (4, 20, False), (5, 4, False), (10, 0, True), (0, 50, False)],
)
def test_too_few_rulings_suggest_nothing(
    stopped: int, approved: int, enough: bool
) -> None:
    """What completed unasked is no ruling, and what is silent says nothing."""
    found = count_cases(
        [
            *[(STOPPED, 0.25)] * stopped,
            *[(APPROVED, 0.1)] * approved,
            *[(COMPLETED, 0.1)] * 100,
            *[(SILENT, 0.25)] * 100,
        ]
    )
    assert found.has_enough() is enough
    assert (get_suggested(found) is not None) is enough
    assert found.count(STOPPED) == stopped


def test_a_floor_catches_what_is_below_it() -> None:
    cases = [
        *[(STOPPED, each) for each in (0.45, 0.5, 0.5, 0.5, 0.55)],
        *[(APPROVED, 0.9)] * 5,
        (COMPLETED, 0.6),
    ]
    found = count_cases(cases, setting="continue.min_coherence")
    assert found.values[0] == 1.0, "the strictest floor comes first"
    assert get_point(found, 0.4) == (0.4, 0, 0)
    assert get_point(found, 0.45) == (0.45, 0, 0)
    assert get_point(found, 0.46) == (0.46, 1, 0)
    assert get_point(found, 0.56) == (0.56, 5, 0)
    assert get_point(found, 0.61) == (0.61, 5, 1)
    assert get_suggested(found) == 0.56


def test_a_count_trips_at_the_limit_itself_and_stays_above_the_interval() -> None:
    cases = [*[(STOPPED, 60)] * 5, *[(APPROVED, 30)] * 5]
    found = count_cases(cases, setting="continue.max_consecutive_steps")
    assert (found.values[0], found.values[-1]) == (25, 199)
    assert get_point(found, 59).caught == 5
    assert get_point(found, 61).caught == 0
    assert get_suggested(found) == 59


SIZES = st.lists(
    st.tuples(
        st.sampled_from((STOPPED, APPROVED, COMPLETED, SILENT)),
        st.integers(0, 1000),
    ),
    max_size=30,
)


@given(given=SIZES)
def test_counts_are_those_of_a_plain_recount(given: list[tuple[str, int]]) -> None:
    cases = [(outcome, figure / 1000) for outcome, figure in given]
    found = count_cases(cases)
    for value, caught, in_vain in found.list_points():
        over = [outcome for outcome, figure in cases if figure > value]
        assert caught == over.count(STOPPED)
        assert in_vain == over.count(APPROVED) + over.count(COMPLETED)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.setting)
def test_every_value_is_a_policy_that_differs_in_this_setting_alone(limit) -> None:  # type: ignore[no-untyped-def]
    policy = load_policy({})
    for value in limit.list_values(policy):
        document = set_limit({"tools": {"confirm": ["pay"]}}, limit, value)
        assert limit.get_value(load_policy(document)) == value
        (difference,) = list_differences({"tools": {"confirm": ["pay"]}}, document)
        assert difference.path == limit.setting
        assert limit.read_value(limit.write_value(value)) == value


def test_a_budget_is_measured_where_the_policy_gave_it() -> None:
    limit, policy = get_limit("budget.cost_usd"), load_policy({})
    left = {"tokens": 10, "tool_calls": 10, "time_ms": 10, "cost_usd": "2.50"}
    metrics = {"budget_remaining": left}
    assert limit.measure(metrics, Budget(), policy) == 7_500_000
    own_wish = Budget(cost_micros=20_000_000)
    assert limit.measure(metrics, own_wish, policy) is None
    used_up = {"budget_remaining": {**left, "tokens": 0}}
    assert limit.measure(used_up, Budget(), policy) is None
    unlimited = load_policy({"budget": {"cost_usd": None}})
    assert TradeOff.from_policy(limit, unlimited) is None
