"""100 schemas as somebody might write or generate them, some to do harm: how long does one
take to be read, and a call under it to be judged?

Arguments are small, wide, deep and long in turn. Times are of the processor, so that other
programs on the machine do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from time import process_time
from typing import Any, TypeVar

from bench.figures import Figure, format_milliseconds
from guidance.core.arguments import Schema

T = TypeVar("T")

COUNT = 100
LIMIT_SECONDS = 0.05
_SEED = 20_48
_NAMES = ("a", "b", "c", "x")
_LEAVES: tuple[Any, ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"enum": [1, "a", None]},
    {"pattern": "^(a+)+$"},
    True,
)
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "dependentSchemas")
_ONE = (
    *("not", "additionalProperties", "items", "contains", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems"),
)
# How deep arguments are, and how many values there are at most on each level of them.
_SHAPES = ((3, 4), (3, 40), (12, 2), (30, 1))


def measure_schemas() -> Iterator[Figure]:
    random = Random(_SEED)
    slowest_reading = slowest_judging = 0.0
    asked = 0
    for _ in range(COUNT):
        document = _build_document(random)
        schema, seconds = _time(partial(Schema, document))
        slowest_reading = max(slowest_reading, seconds)
        for depth, width in _SHAPES:
            arguments = {name: _build_value(random, depth, width) for name in _NAMES}
            problems, seconds = _time(partial(schema.list_problems, arguments))
            slowest_judging = max(slowest_judging, seconds)
            asked += any(problem.unchecked for problem in problems)
    what = f"{COUNT} generated schemas: the slowest"
    for name, seconds in (("reading", slowest_reading), ("call", slowest_judging)):
        yield Figure(
            label=f"{what} {name}",
            figure=format_milliseconds(seconds),
            target=f"under {format_milliseconds(LIMIT_SECONDS)}",
            met=seconds < LIMIT_SECONDS,
        )
    yield Figure(
        label=f"{COUNT} generated schemas: calls that a person is asked about",
        figure=f"{asked:,} of {COUNT * len(_SHAPES):,}",
    )


def _time(work: Callable[[], T]) -> tuple[T, float]:
    begun = process_time()
    result = work()
    return result, process_time() - begun


def _build_document(random: Random) -> dict[str, Any]:
    """Definitions that lead to each other: in half of the schemas only to later ones."""
    names = [f"d{number}" for number in range(random.randint(1, 12))]
    layered = random.random() < 0.5
    definitions: dict[str, Any] = {}
    for place, name in enumerate(names):
        others = names[place + 1 :] if layered else names
        definitions[name] = _build_schema(random, others, random.randint(1, 2))
    return {"$defs": definitions, "anyOf": [_build_schema(random, names, 2)]}


def _build_schema(random: Random, names: list[str], depth: int) -> Any:
    if depth == 0 or random.random() < 0.15:
        if names and random.random() < 0.6:
            return {"$ref": f"#/$defs/{random.choice(names)}"}
        return random.choice(_LEAVES)
    schema: dict[str, Any] = {}
    for keyword in random.sample((*_MANY, *_NAMED, *_ONE), random.randint(1, 3)):
        parts = [
            _build_schema(random, names, depth - 1) for _ in range(random.randint(1, 3))
        ]
        if keyword in _MANY:
            schema[keyword] = parts
        elif keyword in _NAMED:
            schema[keyword] = dict(zip(_NAMES, parts, strict=False))
        else:
            schema[keyword] = parts[0]
    return schema


def _build_value(random: Random, depth: int, width: int) -> Any:
    if depth == 0 or random.random() < 0.1:
        return random.choice((1, "a" * random.choice((1, 40, 4_000)), None, 2.5))
    parts = [
        _build_value(random, depth - 1, width) for _ in range(random.randint(1, width))
    ]
    if random.random() < 0.3:
        return parts
    return dict(zip((*_NAMES, "y", "z"), parts, strict=False))
