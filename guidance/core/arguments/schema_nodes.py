"""A JSON Schema as a graph: which subschema hands a value, or its children, to which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.arguments.schema_references import Keys, References

_SAME = (
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("dependentSchemas", "dependencies"),
)
# These look at the same value once more, to learn which children were looked at.
_AGAIN = ("unevaluatedProperties", "unevaluatedItems")
# One of a group looks at a child; each of the patterns may.
_GROUPS = (
    *(("properties", "additionalProperties"), ("prefixItems", "items")),
    *(("contains",), ("propertyNames",), *((name,) for name in _AGAIN)),
)
_PATTERNS = "patternProperties"
_NAMED = (*_SAME[-2:], "properties", _PATTERNS)
_LISTS = ("enum", "required", "dependentRequired")


class SchemaUnbounded(ValueError):
    """A schema that may ask for any amount of work; `keys` lead to the place."""

    def __init__(self, keys: Keys, why: str) -> None:
        super().__init__(why)
        self.keys = keys


@dataclass(slots=True, eq=False)
class Node:
    """A subschema: where it stands, its own work, and what looks beside and below it."""

    keys: Keys
    own: int = 1
    again: bool = False
    same: list[Node] = field(default_factory=list)
    referred: list[Node] = field(default_factory=list)
    groups: list[list[Node]] = field(default_factory=list)

    def list_next(self) -> list[Node]:
        return [
            *self.same,
            *self.referred,
            *(n for group in self.groups for n in group),
        ]


def read_nodes(references: References) -> list[Node]:
    """List the subschemas that can be reached, the document itself first; LookupError
    tells of a reference that leads out of it."""
    nodes: dict[Keys, Node] = {}
    waiting: list[Node] = []

    def get_node(keys: Keys) -> Node:
        if keys not in nodes:
            nodes[keys] = Node(keys)
            waiting.append(nodes[keys])
        return nodes[keys]

    get_node(())
    while waiting:
        node = waiting.pop()
        schema = references.schemas.get(node.keys)
        if schema is None:
            continue  # true or false

        def list_nodes(keyword: str, node: Node = node) -> list[Node]:
            ways = _list_ways(references.schemas[node.keys], keyword)
            return [get_node((*node.keys, *way)) for way in ways]

        node.own += sum(len(part) for part in _list_own(schema)) // 16
        node.again = any(name in schema for name in _AGAIN)
        node.same += [n for name in _SAME for n in list_nodes(name)]
        node.referred += map(get_node, references.list_targets(node.keys))
        for group in _GROUPS:
            members = [n for name in group for n in list_nodes(name)]
            node.groups += [members] if members else []
        node.groups += [[n] for n in list_nodes(_PATTERNS)]
    return list(nodes.values())


def _list_own(schema: Mapping[str, Any]) -> Iterator[list[Any] | Mapping[str, Any]]:
    for name in _LISTS:
        if isinstance(part := schema.get(name), list | Mapping):
            yield part


def _list_ways(schema: Mapping[str, Any], keyword: str) -> Iterator[Keys]:
    value = schema.get(keyword)
    if isinstance(value, list):
        yield from ((keyword, index) for index in range(len(value)))
    elif isinstance(value, Mapping) and keyword in _NAMED:
        yield from ((keyword, name) for name in value)
    elif value is not None:
        yield (keyword,)


def find_circular(root: Node) -> frozenset[Node]:
    """Find where circles close: whatever is entered again on a way from itself."""
    circular: set[Node] = set()
    on_way = {root: iter(root.list_next())}
    done: set[Node] = set()
    while on_way:
        node, following = next(reversed(on_way.items()))
        for child in following:
            if child in on_way:
                circular.add(child)
            elif child not in done:
                on_way[child] = iter(child.list_next())
                break
        else:
            done.add(node)
            del on_way[node]
    return frozenset(circular)
