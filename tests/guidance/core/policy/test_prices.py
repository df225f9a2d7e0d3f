"""Prices of models: by name or its beginning, in exact money, and none that is made up."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy import load_policy
from guidance.core.prices import ModelTokens
from tests.guidance.core.policy.dumps import dump_part
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

PRICES: dict[str, Any] = {
    "small-*": {"input_usd": "0.10", "output_usd": "0.40"},
    "small-2-*": {
        "input_usd": "3.00",
        "output_usd": "15.00",
        "cached_input_usd": "0.30",
        "cache_write_usd": "3.75",
    },
    "small-2-mini": {"input_usd": "0", "output_usd": "0"},
}
USED = ModelTokens(input=1_000, cached_input=10_000, cache_write=2_000, output=500)


def compute(model: str, used: ModelTokens = USED) -> int | None:
    policy = load_policy({"prices": {"models": PRICES}})
    return policy.prices.compute_cost(model, used)


@each_row(
    ("model", "cost"),
    [
        # Each kind by its own price.
        ("small-2-large", 3_000 + 3_000 + 7_500 + 7_500),
        # Where a cache has no price of its own it costs what other input costs.
        ("small-1", 1_300 + 200),
        ("small-2-mini", 0),
        ("Small-1", None),
        ("large", None),
        ("", None),
    ],
)
def test_tokens_cost_what_the_nearest_name_says(model: str, cost: int | None) -> None:
    assert compute(model) == cost


def test_a_part_of_a_millionth_counts_as_a_whole_one() -> None:
    assert compute("small-1", ModelTokens(input=1)) == 1
    assert compute("small-1", ModelTokens()) == 0


def test_no_price_is_built_in() -> None:
    assert load_policy({}).prices.models == {}


WHOLE = {"input_usd": "1.00", "output_usd": "2.00"}


@each_row(
    ("models", "path", "why"),
    [
        ({"a": {"input_usd": "1.00"}}, "prices.models.a.output_usd", "decimal string"),
        ({"a": {**WHOLE, "input_usd": 1}}, "prices.models.a.input_usd", "decimal"),
        ({"a": {**WHOLE, "input_usd": None}}, "prices.models.a.input_usd", "decimal"),
        ({"a": {**WHOLE, "input_usd": "-1"}}, "prices.models.a.input_usd", "not an"),
        (
            {"a": {**WHOLE, "cached_input_usd": "1000000.000001"}},
            "prices.models.a.cached_input_usd",
            "at most 1000000.00",
        ),
        ({"a": {**WHOLE, "image_usd": "1.00"}}, "prices.models.a.image_usd", "unknown"),
        ({"a*b": WHOLE}, "prices.models.a*b", "star"),
        ({"": WHOLE}, "prices.models.", "empty"),
        ({f"m{n}": WHOLE for n in range(201)}, "prices.models", "at most 200"),
        ([], "prices.models", "object"),
    ],
)
def test_what_is_wrong_with_a_price_is_named(models: Any, path: str, why: str) -> None:
    found = problems({"prices": {"models": models}})
    assert why in found[path]


def test_prices_that_are_read_are_written_again() -> None:
    prices = load_policy({"prices": {"models": PRICES}}).prices
    document: Any = dump_part(prices)
    assert load_policy({"prices": document}).prices == prices


@pytest.mark.parametrize("model", ["*", "gpt-4.1", "eu.some-model-v1:0"])
def test_any_name_of_a_model_can_have_a_price(model: str) -> None:
    policy = load_policy({"prices": {"models": {model: WHOLE}}})
    name = "anything" if model == "*" else model
    assert policy.prices.compute_cost(name, ModelTokens(output=1_000_000)) == 2_000_000
