"""Prices of models by their names. A model that no name fits has no price: its cost is not
known, which is not the same as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from guidance.core.arguments import choose_pattern
from guidance.core.money import format_usd

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """`models` has prices by the model's name, or the beginning of names and a star."""

    models: Mapping[str, ModelPrice] = field(default_factory=dict)

    def compute_cost(self, model: str, tokens: ModelTokens) -> int | None:
        """None where the model has no price."""
        name = choose_pattern(self.models, model)
        return None if name is None else self.models[name].compute_cost(tokens)

    def to_json(self) -> dict[str, object]:
        return {"models": {name: each.to_json() for name, each in self.models.items()}}
