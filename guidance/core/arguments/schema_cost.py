"""The work of judging by a JSON Schema, bounded before it is done.

A value is looked at by every subschema that reaches it. Subschemas that speak of the same
value (`anyOf`, `$ref`, …) multiply, on every level of the arguments anew: thirty short
definitions can ask for a billion looks. What is counted here are looks, from above: with
how many values the arguments have on each level, never with the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from guidance.core.arguments.schema_nodes import (
    Node,
    SchemaUnbounded,
    find_circular,
    read_nodes,
)
from guidance.core.arguments.schema_references import References

# Looks at one value. Schemas generated from real interfaces need some dozens.
LOOK_LIMIT = 5_000

# Of each level of the arguments: how many values it has, and how many characters.
Levels = list[tuple[int, int]]
Looks = dict[Node, int]


class SchemaCost:
    """The bounds of one document. Raises SchemaUnbounded where there are none, and
    LookupError for a reference that leads out of it."""

    def __init__(self, references: References) -> None:
        nodes = read_nodes(references)
        self._root = nodes[0]
        try:
            graph = TopologicalSorter({n: [*n.same, *n.referred] for n in nodes})
            self._order = list(graph.static_order())
        except CycleError as error:
            keys = min((node.keys for node in error.args[1]), key=len)
            raise SchemaUnbounded(keys, "it refers to itself for one value") from None
        self._circular = find_circular(self._root)
        self._judging: list[Looks] = []
        self._listing: list[Looks] = []
        for node, looks in self._count_looks(0, self._listing, frozenset()).items():
            if looks > LOOK_LIMIT:
                why = f"its parts look at one value more than {LOOK_LIMIT:,} times"
                raise SchemaUnbounded(node.keys, why)

    def bound_judging(self, levels: Levels) -> int:
        """Bound the looks for a yes or no. Where references run in a circle the validator
        keeps its answers: the schema they lead to looks at every value once."""
        starts = [(self._root, levels)]
        for node in self._circular:
            starts += [(node, levels[depth:]) for depth in range(len(levels))]
        return sum(
            self._count_looks(depth, self._judging, self._circular)[node] * weight
            for node, below in starts
            for depth, weight in enumerate(
                _build_weights(below, characters=10, values=50)
            )
        )

    def bound_listing(self, levels: Levels) -> int:
        """Bound the looks for a list of what is wrong: no answer is kept, and each thing
        that is wrong comes with a copy of its value."""
        return sum(
            self._count_looks(depth, self._listing, frozenset())[self._root] * weight
            for depth, weight in enumerate(
                _build_weights(levels, characters=2_500, values=40)
            )
        )

    def _count_looks(
        self, depth: int, known: list[Looks], kept: frozenset[Node]
    ) -> Looks:
        """Count the looks at one value that stands `depth` levels below the one that a
        subschema is given; what is `kept` is not followed where a reference leads there."""
        while len(known) <= depth:
            looks: Looks = {}
            again: Looks = {}
            for node in self._order:
                inner = [*node.same, *(n for n in node.referred if n not in kept)]
                below = sum(looks[n] for n in inner) + len(node.referred)
                again[node] = 1 + below + sum(again[n] for n in inner)
                own = node.own
                if known:
                    own = sum(max(known[-1][n] for n in part) for part in node.groups)
                looks[node] = own + below + (again[node] if node.again else 0)
            known.append(looks)
        return known[depth]


def measure_levels(arguments: Any) -> Levels:
    """Count the values and the characters of arguments, level by level."""
    levels: Levels = []
    level = [arguments]
    while level:
        below: list[Any] = []
        characters = 0
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, Mapping):
                characters += sum(map(len, value))
                below += value.values()
            elif isinstance(value, list):
                below += value
        levels.append((len(level), characters))
        level = below
    return levels


def _build_weights(levels: Levels, *, characters: int, values: int) -> list[int]:
    """Weigh one look on each level: more where texts are long, or where much is below."""
    weights = []
    below = 0
    for count, length in reversed(levels):
        below += count
        weights.append(count + length // characters + below // values)
    return weights[::-1]
