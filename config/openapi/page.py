"""The document, arranged for the page that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Node = Mapping[str, Any]
_FORMATS = {"uuid": "id", "date-time": "time"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`named` is the type of our own that it refers to, `limits` what it may hold."""

    name: str
    type: str
    required: bool
    description: str
    named: str = ""
    limits: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedType:
    name: str
    description: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`problems` are titles by their slugs, where it is a refusal."""

    status: str
    description: str
    media_type: str
    fields: tuple[Field, ...]
    headers: tuple[Field, ...]
    problems: Mapping[str, str]
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    description: str
    access: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    examples: tuple[tuple[str, str], ...]
    answers: tuple[Answer, ...]

    @property
    def refuses(self) -> bool:
        return any(answer.problems for answer in self.answers)


def group_operations(schema: Node) -> dict[str, list[Operation]]:
    tags: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, item in methods.items():
            operation = _build_operation(schema, path, method, item)
            tags.setdefault((item.get("tags") or ["Other"])[0], []).append(operation)
    return tags


def list_named_types(schema: Node) -> list[NamedType]:
    """The types that fields refer to, by name; bodies and answers stand elsewhere."""
    schemas = schema["components"]["schemas"]
    used = {"Problem", "LedgerEntry", "LedgerEnd"} | {
        name
        for node in schemas.values()
        for each in (*node.get("properties", {}).values(), *node.get("oneOf", ()))
        for name in _list_references(each)
    }
    return [
        NamedType(
            name=name,
            description=schemas[name].get("description", ""),
            fields=_build_fields(schema, schemas[name]),
        )
        for name in sorted(used)
    ]


def _build_operation(schema: Node, path: str, method: str, item: Node) -> Operation:
    parameters = [_resolve(schema, each) for each in item.get("parameters", ())]
    sent = _get_json_part(item.get("requestBody", {}))
    return Operation(
        id=item["operationId"],
        method=method.upper(),
        path=path,
        summary=item.get("summary", ""),
        description=item.get("description", ""),
        access=_describe_access(schema, item),
        parameters=tuple(
            _build_field(
                f"{each['name']} ({each['in']})",
                {**each["schema"], "description": _get_description(each)},
                required=each.get("required", False),
            )
            for each in parameters
        ),
        body=_build_fields(schema, sent.get("schema", {})),
        examples=tuple(
            (name.replace("_", " "), _format_json(each["value"]))
            for name, each in sent.get("examples", {}).items()
        ),
        answers=tuple(
            _build_answer(schema, str(status), _resolve(schema, answer))
            for status, answer in item.get("responses", {}).items()
        ),
    )


def _describe_access(schema: Node, item: Node) -> str:
    """Who may ask, in words."""
    schemes = schema["components"].get("securitySchemes", {})
    names = [name for each in item.get("security", ()) for name in each]
    return (
        " Or: ".join(schemes[name]["description"] for name in names) or "Open to all."
    )


def _build_answer(schema: Node, status: str, answer: Node) -> Answer:
    media_type = next(iter(answer.get("content", ())), "")
    content = answer.get("content", {}).get(media_type, {})
    return Answer(
        status=status,
        description=answer["description"],
        media_type=media_type,
        fields=_build_fields(schema, content.get("schema", {})),
        headers=tuple(
            _build_field(
                name,
                header["schema"] | {"description": _get_description(header)},
                required=False,
            )
            for name, reference in answer.get("headers", {}).items()
            for header in [_resolve(schema, reference)]
        ),
        problems=answer.get("x-problems", {}),
        example=_format_json(content["example"]) if "example" in content else "",
    )


def _resolve(schema: Node, node: Node) -> Node:
    """What a reference into the components leads to."""
    if "$ref" not in node:
        return node
    _, kind, name = str(node["$ref"]).rsplit("/", 2)
    found: Node = schema["components"][kind][name]
    return found


def _format_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _get_json_part(part: Node) -> Node:
    content: Node = part.get("content", {}).get("application/json", {})
    return content


def _build_fields(schema: Node, node: Node) -> tuple[Field, ...]:
    for name in _list_references(node):
        node = schema["components"]["schemas"][name]
    if "discriminator" in node:
        return tuple(_list_kinds(node))
    required = set(node.get("required", ()))
    return tuple(
        _build_field(name, each, required=name in required)
        for name, each in node.get("properties", {}).items()
    )


def _list_kinds(node: Node) -> Iterator[Field]:
    """One for each kind of a body that can be of several."""
    name = node["discriminator"]["propertyName"]
    for value, reference in node["discriminator"]["mapping"].items():
        kind = {"$ref": reference}
        yield _build_field(f"{name}: {value}", kind, required=False)


def _build_field(name: str, node: Node, *, required: bool) -> Field:
    types = dict.fromkeys(_list_types(node))
    return Field(
        name=name,
        type=" or ".join(types),
        required=required,
        description=_get_description(node),
        named=next(_list_references(node), ""),
        limits=", ".join(dict.fromkeys(_list_limits(node))),
    )


def _get_description(node: Node) -> str:
    """Its own, or that of a part of it."""
    if node.get("description"):
        return str(node["description"])
    found = (_get_description(part) for part in _list_parts(node))
    return next(filter(None, found), "")


def _list_parts(node: Node) -> Iterator[Node]:
    """What the node is made of, one level down."""
    for key in ("schema", "items"):
        if key in node:
            yield node[key]
    for key in ("anyOf", "allOf", "oneOf"):
        yield from node.get(key, ())


def _list_references(node: Node) -> Iterator[str]:
    if "$ref" in node:
        yield str(node["$ref"]).rpartition("/")[2]
    for part in _list_parts(node):
        yield from _list_references(part)


def _list_types(node: Node) -> Iterator[str]:
    if "$ref" in node:
        yield from _list_references(node)
    elif "enum" in node:
        yield " | ".join(map(str, node["enum"]))
    elif "const" in node:
        yield str(node["const"])
    elif any(key in node for key in ("anyOf", "allOf", "oneOf")):
        for part in _list_parts(node):
            yield from _list_types(part)
    elif node.get("type") == "array":
        yield "list of " + " or ".join(_list_types(node.get("items", {})))
    else:
        yield _FORMATS.get(node.get("format", ""), str(node.get("type", "any")))


def _list_limits(node: Node) -> Iterator[str]:
    if "minimum" in node and "maximum" in node:
        yield f"{node['minimum']:,} to {node['maximum']:,}"
    if "maxLength" in node:
        yield f"up to {node['maxLength']:,} characters"
    if "maxItems" in node:
        yield f"up to {node['maxItems']:,}"
    for part in _list_parts(node):
        yield from _list_limits(part)
    default = node.get("default")
    if isinstance(default, bool | int | str) and default != "":
        yield f"default {json.dumps(default)}"
