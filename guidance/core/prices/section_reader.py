"""The prices section of a policy document, read strictly."""

from __future__ import annotations

from guidance.core.arguments import TOOL_PATTERN, find_pattern_problem
from guidance.core.document_reader import Section
from guidance.core.prices.section import ModelPrice, Prices

MODELS_LIMIT = 200
# A million dollars for a million tokens: more is a mistake.
_HIGH = 10**12


def read_prices(section: Section) -> Prices:
    models = {}
    given = section.read_named_parts("models", most=MODELS_LIMIT, pattern=TOOL_PATTERN)
    for name, part in given.items():
        why = find_pattern_problem(name)
        if why is not None:
            section.refuse(f"models.{name}", why)
        models[name] = _read_price(part)
    section.close()
    return Prices(models=models)


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
