"""The slope gate: only spend that really grows throttles."""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import sqrt
from statistics import fmean, linear_regression

import pytest

from guidance.core.runs.measures import fit_trend
from tests.guidance.core.builders import (
    ask,
    get_message,
    list_gates,
    make_policy,
    make_report,
    step,
    walk,
)
from tests.support.rows import each_row


def spend(figures: Iterable[int]) -> list[dict[str, int]]:
    return [{"tokens": tokens} for tokens in figures]


def growing(rate: float, *, steps: int = 10, first: int = 1000) -> list[int]:
    return [round(first * (1 + rate) ** n) for n in range(steps)]


@each_row(
    "figures",
    [
        pytest.param([1000] * 12, id="CG-37-constant"),
        pytest.param([1] * 12, id="CG-37-one-token"),
        pytest.param([0] * 12, id="CG-37-nothing"),
        pytest.param(range(1200, 0, -100), id="CG-38-falling"),
        pytest.param([1000] * 9 + [5000], id="CG-40-spike-at-the-end"),
        pytest.param([5000] + [1000] * 9, id="CG-40-spike-at-the-start"),
        pytest.param([1000] * 5 + [5000] + [1000] * 4, id="CG-40-spike-within"),
        pytest.param(growing(0.02), id="two-percent-compound"),
        pytest.param(growing(0.019), id="less-than-two-percent"),
        pytest.param([1000, 1200, 800, 1300, 700, 1250, 900, 1100, 950, 1400], id="up"),
    ],
)
def test_spend_that_does_not_grow_is_never_throttled(figures: Iterable[int]) -> None:
    verdicts = walk(spend(figures))
    assert {verdict.decision for verdict in verdicts} == {"continue"}


def test_ten_percent_a_step_is_throttled_with_a_delay() -> None:
    """CG-39 R."""
    verdict = walk(spend(growing(0.1)))[-1]
    assert verdict.decision == "throttle"
    assert verdict.delay_ms > 0
    assert verdict.metrics.budget_slope == pytest.approx(0.0939, abs=0.00005)
    assert verdict.metrics.budget_slope_significant


def test_it_begins_with_the_sixth_step() -> None:
    decisions = [verdict.decision for verdict in walk(spend(growing(0.1)))]
    assert decisions == ["continue"] * 5 + ["throttle"] * 5


def test_exactly_two_percent_of_the_mean_a_step_does_not_throttle() -> None:
    """A straight line whose slope is 2 % of its mean, to the last bit."""
    for mean in (100, 1000, 2000, 12_300, 10**9 * 100):
        # 2 % of the mean between neighbours, so half of that around the middle.
        figures = [mean + (2 * n - 9) * mean // 100 for n in range(10)]
        assert fit_trend(figures).slope == 0.02
        assert fit_trend(figures).significant
        assert "slope" not in list_gates(walk(spend(figures))[-1])


def test_a_little_more_than_two_percent_does() -> None:
    figures = [1000 + (2 * n - 9) * 10 for n in range(10)]
    figures[0] -= 1
    figures[-1] += 1
    verdict = walk(spend(figures))[-1]
    assert verdict.decision == "throttle"
    assert get_message(verdict, "slope") == (
        "Spend rising 2.01 % a step over the last 10 steps"
    )


def test_the_message_tells_by_how_much_and_over_how_many_steps() -> None:
    verdicts = walk(spend(growing(0.1)))
    assert get_message(verdicts[-1], "slope") == (
        "Spend rising 9.4 % a step over the last 10 steps"
    )
    assert get_message(verdicts[5], "slope") == (
        "Spend rising 9.5 % a step over the last 6 steps"
    )


def test_a_straight_line_is_significant_and_a_spike_is_not() -> None:
    assert fit_trend([1, 2, 3, 4, 5, 6]).significant
    spike = fit_trend([1000] * 9 + [2000])
    assert spike.slope > 0.02
    assert not spike.significant


def test_exactly_two_standard_errors_are_not_significant() -> None:
    assert not fit_trend([1, 1, 2, 3, 2]).significant
    assert fit_trend([1, 1, 2, 3, 3]).significant


def test_no_spend_at_all_has_no_slope() -> None:
    assert fit_trend([0] * 6).slope == 0.0


def test_slope_and_significance_are_those_of_ordinary_least_squares() -> None:
    """Against the textbook, in floats, over seeded figures of all lengths."""
    chance = random.Random(7)
    for _ in range(2000):
        ys = [chance.randrange(1, 5000) for _ in range(chance.randrange(3, 30))]
        xs = range(len(ys))
        slope, intercept = linear_regression(xs, ys)
        residues = [y - intercept - slope * x for x, y in zip(xs, ys, strict=True)]
        spread = sum((x - fmean(xs)) ** 2 for x in xs)
        error = sqrt(sum(e * e for e in residues) / (len(ys) - 2) / spread)
        assert fit_trend(ys).slope == pytest.approx(slope / fmean(ys))
        assert fit_trend(ys).significant == (slope > 2 * error)


def test_one_figure_has_no_slope() -> None:
    """CG-29."""
    verdict = step(make_report())
    assert verdict.metrics.budget_slope == 0.0
    assert not verdict.metrics.budget_slope_significant
    assert "slope" in verdict.metrics.not_evaluated


def test_delays_double_while_it_goes_on_and_are_capped() -> None:
    verdicts = walk(spend(growing(0.1, steps=12)))
    assert [verdict.delay_ms for verdict in verdicts] == [0] * 5 + [
        5_000,
        10_000,
        20_000,
        40_000,
        60_000,
        60_000,
        60_000,
    ]


def test_a_step_without_throttle_resets_the_delay() -> None:
    memory = walk(spend(growing(0.1)))[-1].memory
    assert memory.throttles == 5
    calm = walk(spend([10] * 3), memory=memory)
    assert calm[-1].memory.throttles == 0
    again = walk(spend(growing(0.3, steps=15)), memory=calm[-1].memory)
    assert [verdict.delay_ms for verdict in again if verdict.delay_ms][:2] == [
        5_000,
        10_000,
    ]


def test_a_very_long_throttle_stays_at_the_cap() -> None:
    memory = walk(spend(growing(0.1)))[-1].memory
    figures = growing(0.1, steps=60, first=3000)
    verdicts = walk(spend(figures), memory=memory)
    assert {verdict.delay_ms for verdict in verdicts} == {60_000}


def test_a_worse_decision_needs_no_delay_but_the_throttle_is_counted() -> None:
    """CG-25: high rework and growing spend."""
    figures = [
        {"tokens": tokens, "rework": n > 5} for n, tokens in enumerate(growing(0.1))
    ]
    verdict = walk(figures)[-1]
    assert verdict.decision == "pause"
    assert list_gates(verdict) == ["rework", "slope"]
    assert verdict.delay_ms == 0
    assert verdict.memory.throttles == 5


def test_throttle_does_not_hide_a_checkpoint() -> None:
    verdict = walk(spend([1000] * 15 + growing(0.1)))[-1]
    assert verdict.decision == "throttle"
    assert verdict.checkpoint_due
    assert verdict.recommended_action == (
        "Save a checkpoint. Wait 1 min, then go on with smaller steps."
    )


def test_an_approved_pause_forgets_the_history_of_spend() -> None:
    memory = walk(spend(growing(0.1)))[-1].memory.start_segment()
    verdicts = walk(spend(growing(0.1, first=3000)), memory=memory)
    assert [verdict.decision for verdict in verdicts[:6]] == ["continue"] * 5 + [
        "throttle"
    ]
    assert verdicts[5].delay_ms == 5_000


def test_without_a_run_the_recent_figures_are_judged() -> None:
    verdict = ask(recent_step_tokens=tuple(growing(0.1)))
    assert (verdict.decision, verdict.delay_ms) == ("throttle", 5_000)
    assert ask(recent_step_tokens=(1000,) * 10).decision == "continue"
    assert ask(recent_step_tokens=tuple(growing(0.1, steps=6))).decision == "throttle"
    few = ask(recent_step_tokens=tuple(growing(0.1, steps=5)))
    assert few.decision == "continue"
    assert "slope" in few.metrics.not_evaluated


def test_without_a_run_only_the_policys_window_counts() -> None:
    figures = (9000, 9000, 9000, 9000, *growing(0.1, steps=6))
    assert ask(recent_step_tokens=figures).decision == "continue"
    memory = walk(spend(figures), policy=make_policy(slope_window=6))[-1]
    assert memory.decision == "throttle"


def noisy(chance: random.Random, *, rate: float, spread: float) -> list[int]:
    return [
        max(0, round(1000 * (1 + rate) ** n * chance.gauss(1, spread)))
        for n in range(10)
    ]


@each_row(
    ("rate", "spread", "least", "most"),
    [
        pytest.param(0.0, 0.1, 0.0, 0.06, id="steady-10"),
        pytest.param(0.0, 0.3, 0.0, 0.06, id="steady-30"),
        pytest.param(0.0, 0.5, 0.0, 0.06, id="steady-50"),
        pytest.param(0.1, 0.3, 0.7, 1.0, id="growing-10-percent"),
        pytest.param(0.05, 0.1, 0.9, 1.0, id="growing-5-percent"),
    ],
)
def test_healthy_agents_are_left_alone_and_growing_ones_are_caught(
    rate: float, spread: float, least: float, most: float
) -> None:
    """A thousand seeded agents each: false alarms about 4 %, not a quarter."""
    chance = random.Random(20)
    caught = sum(
        "slope" in list_gates(ask(recent_step_tokens=tuple(figures)))
        for figures in (noisy(chance, rate=rate, spread=spread) for _ in range(1000))
    )
    assert least <= caught / 1000 <= most
