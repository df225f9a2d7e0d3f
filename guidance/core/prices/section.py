"""Prices of models by their names. A model that no name fits has no price: its cost is not
known, which is not the same as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from guidance.core.arguments import (
    TOOL_PATTERN,
    choose_pattern,
    find_pattern_problem,
)
from guidance.core.document_reader import Section
from guidance.core.money import format_usd
from guidance.core.settings import Known, Words, declare

MODELS_LIMIT = 200
# A million dollars for a million tokens: more is a mistake.
_HIGH = 10**12
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTokens:
    """What a model used, each token counted once."""

    input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """Millionths of a dollar for a million tokens of each kind."""

    input: int
    output: int
    cached_input: int
    cache_write: int

    def compute_cost(self, tokens: ModelTokens) -> int:
        """In millionths of a dollar, rounded up."""
        total = (
            tokens.input * self.input
            + tokens.cached_input * self.cached_input
            + tokens.cache_write * self.cache_write
            + tokens.output * self.output
        )
        return -(-total // _MILLION)

    def to_json(self) -> dict[str, str]:
        names = ("input", "output", "cached_input", "cache_write")
        return {f"{name}_usd": format_usd(getattr(self, name)) for name in names}


def _read_models(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, ModelPrice]:
    models = {}
    given = section.read_named_parts(key, most=MODELS_LIMIT, pattern=TOOL_PATTERN)
    for name, part in given.items():
        why = find_pattern_problem(name)
        if why is not None:
            section.refuse(f"{key}.{name}", why)
        models[name] = _read_price(part)
    return models


def _read_price(part: Section) -> ModelPrice:
    """Tokens from a cache, and into one, cost what other input costs where nothing is
    said: a discount that nobody told is none."""
    sent = part.read_price("input_usd", high=_HIGH)
    price = ModelPrice(
        input=sent,
        output=part.read_price("output_usd", high=_HIGH),
        cached_input=part.read_price("cached_input_usd", high=_HIGH, default=sent),
        cache_write=part.read_price("cache_write_usd", high=_HIGH, default=sent),
    )
    part.close()
    return price


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """`models` has prices by the model's name, or the beginning of names and a star."""

    models: Mapping[str, ModelPrice] = declare(
        dict,
        "Models",
        "Prices by the model's name, or its beginning and a star.",
        read=_read_models,
        inside={
            f"*.{name}_usd": Words(label, text, "USD")
            for name, label, text in (
                ("input", "Input", "For a million tokens sent."),
                (
                    "output",
                    "Output",
                    "For a million tokens answered, thinking included.",
                ),
                (
                    "cached_input",
                    "Cached input",
                    "For a million tokens read from the cache; left out: as other input.",
                ),
                (
                    "cache_write",
                    "Cache writes",
                    "For a million tokens put into the cache; left out: as other input.",
                ),
            )
        },
    )

    def compute_cost(self, model: str, tokens: ModelTokens) -> int | None:
        """None where the model has no price."""
        name = choose_pattern(self.models, model)
        return None if name is None else self.models[name].compute_cost(tokens)
