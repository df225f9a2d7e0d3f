"""A delay that is not waited out is noticed, and who never waits is paused."""

from __future__ import annotations

import pytest

from guidance.core.runs.memory import Memory
from tests.guidance.core.builders import (
    get_message,
    list_gates,
    make_policy,
    make_report,
    make_trace,
    step,
)
from tests.support.rows import each_row

# Asked to wait five seconds by the last answer.
THROTTLED = Memory(
    steps=6, last_step=6, segment=6, throttles=1, delay_ms=5000, trace=make_trace(6)
)


@each_row(
    ("waited", "gates", "decision"),
    [
        pytest.param(0, ["throttle_ignored"], "throttle", id="at once"),
        pytest.param(4749, ["throttle_ignored"], "throttle", id="a hair too early"),
        pytest.param(4750, [], "continue", id="a twentieth is forgiven"),
        pytest.param(5000, [], "continue", id="to the point"),
        pytest.param(90_000, [], "continue", id="longer than asked"),
        pytest.param(None, [], "continue", id="not known, as in a batch"),
    ],
)
def test_the_delay_counts_to_a_twentieth(
    waited: int | None, gates: list[str], decision: str
) -> None:
    verdict = step(make_report(7), memory=THROTTLED, waited_ms=waited)
    assert (list_gates(verdict), verdict.decision) == (gates, decision)


@each_row(
    ("before", "limit", "decision", "ignored"),
    [
        (0, 3, "throttle", 1),
        (1, 3, "throttle", 2),
        (2, 3, "pause", 3),
        (3, 3, "pause", 4),
        (0, 1, "pause", 1),
        (0, 2, "throttle", 1),
        (1, 2, "pause", 2),
    ],
)
def test_so_many_in_a_row_pause(
    before: int, limit: int, decision: str, ignored: int
) -> None:
    memory = Memory(
        steps=6, last_step=6, segment=6, delay_ms=5000, ignored_waits=before
    )
    policy = make_policy(throttle_ignore_limit=limit)
    verdict = step(make_report(7), policy=policy, memory=memory, waited_ms=10)
    assert verdict.decision == decision
    assert verdict.memory.ignored_waits == ignored
    (found,) = verdict.findings
    assert (found.value, found.limit) == (ignored, limit)


def test_one_wait_that_is_kept_ends_the_row() -> None:
    first = step(make_report(7), memory=THROTTLED, waited_ms=0)
    second = step(make_report(8), memory=first.memory, waited_ms=0)
    assert second.memory.ignored_waits == 2
    kept = step(make_report(9), memory=second.memory, waited_ms=second.delay_ms)
    assert (kept.memory.ignored_waits, kept.memory.delay_ms) == (0, 0)


def test_who_comes_too_early_is_asked_to_wait_longer() -> None:
    first = step(make_report(7), memory=THROTTLED, waited_ms=200)
    assert (first.delay_ms, first.memory.delay_ms) == (10_000, 10_000)
    assert get_message(first, "throttle_ignored") == (
        "Asked to wait 5 s, came after 0.2 s"
    )
    second = step(make_report(8), memory=first.memory, waited_ms=3_000)
    assert second.delay_ms == 20_000
    assert get_message(second, "throttle_ignored") == (
        "Asked to wait 10 s, came after 3 s, 2 times in a row"
    )
    third = step(make_report(9), memory=second.memory, waited_ms=0)
    assert (third.decision, third.delay_ms) == ("pause", 0)
    assert third.recommended_action == (
        "Wait for a reviewer: you went on without waiting."
    )


def test_without_a_delay_nothing_is_ignored() -> None:
    verdict = step(make_report(1), waited_ms=0)
    assert (verdict.decision, verdict.memory.ignored_waits) == ("continue", 0)


def test_an_approved_pause_forgives_what_was_ignored() -> None:
    ignored = step(make_report(7), memory=THROTTLED, waited_ms=0).memory
    for fresh in (ignored.start_segment(), ignored.start_fresh()):
        assert (fresh.delay_ms, fresh.ignored_waits) == (0, 0)
    assert Memory.from_json(ignored.to_json()) == ignored
    assert "waits" not in Memory().to_json()
