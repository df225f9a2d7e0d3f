"""Agents that pass on what their model library says report tokens, cost and time by
themselves: by the prices of the policy, exactly as the server would compute them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from checkrail import AsyncCheckrail, Checkrail, Run, Unreachable, Usage
from checkrail.testing import FakeRail, approve, fake_checkrail

from guidance.core.money import format_usd
from guidance.core.policy import load_policy
from guidance.core.prices import ModelTokens
from tests.support.rows import each_row

PRICES = {
    "some-*": {"input_usd": "0.10", "output_usd": "0.40"},
    "some-model": {
        "input_usd": "3.00",
        "output_usd": "15.00",
        "cached_input_usd": "0.30",
        "cache_write_usd": "3.75",
    },
    "local": {"input_usd": "0", "output_usd": "0"},
}
USED = Usage(
    input_tokens=1_000,
    cached_input_tokens=10_001,
    cache_write_tokens=2_000,
    output_tokens=501,
)
TOKENS = 13_502


def report(
    rail: FakeRail, usage: Any, *, model: str = "some-model", **more: Any
) -> Any:
    with Checkrail().run("Work", model=model) as run:
        run.step(usage=usage, **more)
    return rail.steps[-1]


@each_row("model", ["some-model", "some-other", "local"])
def test_a_step_costs_what_the_server_would_say(model: str) -> None:
    with fake_checkrail(prices=PRICES) as rail:
        told = report(rail, USED, model=model)
    prices = load_policy({"prices": {"models": PRICES}}).prices
    cost = prices.compute_cost(
        model,
        ModelTokens(
            input=USED.input_tokens,
            cached_input=USED.cached_input_tokens,
            cache_write=USED.cache_write_tokens,
            output=USED.output_tokens,
        ),
    )
    assert cost is not None
    assert told["tokens"] == TOKENS
    assert format_usd(cost).rstrip("0").rstrip(".") == told["cost_usd"]


@each_row(
    ("run_model", "named", "priced"),
    [
        # The response's own name counts; without one the run's.
        ("local", "some-model", True),
        ("some-model", "", True),
        # A dated name of the run's model is that model, and of no other.
        ("local", "local-2026-10-01", True),
        ("local", "locality", False),
        ("elsewhere", "", False),
        ("", "", False),
    ],
)
def test_whose_price_it_is(run_model: str, named: str, priced: bool) -> None:
    usage = Usage(output_tokens=100, model=named)
    with fake_checkrail(prices=PRICES) as rail:
        told = report(rail, usage, model=run_model)
    assert ("cost_usd" in told) == priced


def test_without_prices_no_cost_is_made_up(caplog: pytest.LogCaptureFixture) -> None:
    with fake_checkrail() as rail:
        told = report(rail, USED)
    assert told == {"number": 1, "tokens": TOKENS, "tool_calls": 0}
    with (
        fake_checkrail(prices=PRICES) as rail,
        caplog.at_level(logging.WARNING),
        Checkrail().run("Work", model="elsewhere") as run,
    ):
        run.step(usage=USED)
        run.step(usage=USED)
    assert [record.message for record in caplog.records] == [
        "The policy default has no price for elsewhere: its cost is not reported."
    ]


def test_what_the_agent_says_itself_stands_and_prices_are_asked_for_once() -> None:
    with (
        fake_checkrail(prices=PRICES) as rail,
        Checkrail().run("Work", model="some-model") as run,
    ):
        run.step(usage=USED, tokens=7, cost_usd="0.5")
        assert rail.sent("GET", "/policies/default/versions/1") == []
        run.step(usage=[USED, USED])
        run.step(usage=USED)
        with run.check_command("make") as call:
            call.result(usage=USED)
        assert len(rail.sent("GET", "/policies/default/versions/1")) == 1
    own, both, one = rail.steps
    assert (own["tokens"], own["cost_usd"]) == (7, "0.5")
    assert both["tokens"] == 2 * TOKENS
    assert float(both["cost_usd"]) == pytest.approx(2 * float(one["cost_usd"]))
    (result,) = rail.sent("POST", "/result")
    assert (result["tokens"], result["cost_usd"]) == (TOKENS, one["cost_usd"])


def test_a_server_that_is_not_reached_costs_no_figure() -> None:
    with fake_checkrail(prices=PRICES) as rail:
        run = Checkrail(retry_seconds=1).run("Work", model="some-model")
        rail.cut()
        with pytest.raises(Unreachable):
            run.step(usage=USED)
        rail.mend()
        run.finish()
    (kept,) = rail.steps
    assert (kept["tokens"], "cost_usd" in kept) == (TOKENS, True)


def test_prices_that_are_refused_are_no_reason_to_lose_a_step() -> None:
    with fake_checkrail(prices=PRICES) as rail:
        run = Checkrail().run("Work", model="some-model")
        rail.trouble(403)
        run.step(usage=USED)
        run.finish()
    assert rail.steps == [{"number": 1, "tokens": TOKENS, "tool_calls": 0}]


async def test_on_an_event_loop_and_in_batches() -> None:
    with fake_checkrail(prices=PRICES) as rail:
        async with AsyncCheckrail().run(
            "Work", model="some-model", batch_steps=2
        ) as run:
            for _ in range(3):
                await run.step(usage=USED)
        with Checkrail().run("Work", model="some-model", batch_steps=2) as other:
            other.step(usage=USED)
    assert len({step["cost_usd"] for step in rail.steps}) == 1
    assert len(rail.steps) == 4


def work(rail: FakeRail, seconds: float) -> None:
    rail.server.now += seconds


def test_a_step_takes_the_time_since_the_one_before() -> None:
    with fake_checkrail(decisions=["continue", "throttle"]) as rail:
        work(rail, 100)
        with Checkrail().run("Work") as run:
            work(rail, 1.5)
            run.step()
            work(rail, 0.25)
            run.step()  # and is told to wait, which is nobody's work
            work(rail, 2)
            run.step(duration_ms=7)
            run.step()
    assert [step.get("duration_ms") for step in rail.steps] == [1_500, 250, 7, None]


def _fail(rail: FakeRail, run: Run) -> None:
    try:
        with run.check_command("make"):
            work(rail, 9)
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass


def test_neither_people_nor_calls_are_counted_twice() -> None:
    with (
        fake_checkrail(
            calls=["require-confirmation"], rulings=[approve(after=180)]
        ) as rail,
        Checkrail().run("Work") as run,
    ):
        work(rail, 1)
        with run.check_command("rm -rf build"):
            work(rail, 5)
        work(rail, 2)
        run.step()
        work(rail, 1)
        _fail(rail, run)
        run.step()
    assert [step["duration_ms"] for step in rail.steps] == [3_000, 1_000]
    results = rail.sent("POST", "/result")
    assert [result["duration_ms"] for result in results] == [5_000, 9_000]
