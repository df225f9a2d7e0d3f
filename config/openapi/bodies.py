"""What holds for every body that is sent, said of each schema of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from config.fastpath.strict_json import STRING_LIMIT

NO_NUL = r"^[^\x00]*$"
_BOUNDED = ("pattern", "format", "enum", "const")


def describe_bodies(document: Mapping[str, Any]) -> None:
    """Add the rules of the strict reader; turn defaults into words.

    A generator writes a default into every body, or wants it to be written. What is
    left out here is not sent, and then the server's own default holds.
    """
    schemas = document["components"]["schemas"]
    bodies = [
        operation.get("requestBody", {})
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    for name in find_referenced(schemas, bodies):
        for node in _walk_nodes(schemas[name]):
            _describe_default(node)
            if len(node.get("allOf", ())) == 1:
                node.update(node.pop("allOf")[0])
            if node.get("type") == "string":
                _bound_text(node)


def find_referenced(schemas: Mapping[str, Any], *starts: Any) -> set[str]:
    """The names of all schemas that the given parts are made of."""
    found: set[str] = set()
    waiting: list[Any] = [*starts]
    while waiting:
        for node in _walk_nodes(waiting.pop()):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name in schemas and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def _walk_nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object within, from the outside in."""
    if isinstance(value, dict):
        yield value
        for part in list(value.values()):
            yield from _walk_nodes(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk_nodes(part)


def _describe_default(node: dict[str, Any]) -> None:
    if "default" not in node or "properties" in node:
        return
    default = node.pop("default")
    if default in (None, "", [], {}):
        return
    said = f"Default: {json.dumps(default)}."
    described = node.get("description", "")
    node["description"] = f"{described} {said}".strip()


def _bound_text(node: dict[str, Any]) -> None:
    if not any(key in node for key in _BOUNDED):
        node["pattern"] = NO_NUL
        node.setdefault("maxLength", STRING_LIMIT)
