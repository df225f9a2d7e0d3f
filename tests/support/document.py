"""Every answer that a test gets is held against the API's own document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

PREFIX = "/api/v1"
TEXT_TYPES = ("application/json", "application/problem+json")


@cache
def document() -> dict[str, Any]:
    """As it is served: JSON, whose keys are texts."""
    from config.api import api

    served: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return served


@cache
def operations() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Addresses without a parameter first: they are the closer match."""
    paths = sorted(document()["paths"].items(), key=lambda item: item[0].count("{"))
    return [
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operation)
        for path, methods in paths
        for method, operation in methods.items()
    ]


def find_operation(method: str, path: str) -> dict[str, Any] | None:
    for verb, pattern, operation in operations():
        if verb == method and pattern.fullmatch(path):
            return operation
    return None


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        found: Any = document()
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def check_answer(answer: httpx.Response) -> None:
    """Its status, its form and every field of it are documented."""
    check_parts(
        answer.request.method,
        answer.request.url.path,
        answer.status_code,
        answer.headers.get("content-type", ""),
        answer.read,
    )


def check_parts(
    method: str, path: str, status: int, kind: str, read_body: Callable[[], bytes]
) -> None:
    """The same for an answer in its parts; a stream's body is not read."""
    operation = find_operation(method, path)
    if operation is None or status == 500:
        return  # no address of ours, or a fault of ours: neither is documented
    name = f"{operation['operationId']} {status}"
    assert str(status) in operation["responses"], (
        f"{operation['operationId']} does not document {status}"
    )
    described = resolve(operation["responses"][str(status)])
    media_type = kind.partition(";")[0]
    if "content" not in described:
        assert not read_body(), f"{name} has a body"
        return
    assert media_type in described["content"], f"{name}: {media_type}"
    if media_type not in TEXT_TYPES:
        return
    body = json.loads(read_body())
    schema = described["content"][media_type]["schema"]
    faults = list(validator(json.dumps(schema)).iter_errors(body))
    assert not faults, f"{name}: {faults[0]}"
    if media_type == "application/problem+json":
        slug = body["type"].removeprefix("/problems/")
        assert slug in described["x-problems"], f"{name}: {slug}"


@cache
def validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """For this schema within the document; fields that it does not name are faults."""
    whole = {**json.loads(schema), "components": _closed_components()}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


@cache
def _closed_components() -> dict[str, Any]:
    components: dict[str, Any] = deepcopy(document()["components"])
    for node in _objects(components["schemas"]):
        node.setdefault("additionalProperties", False)
    return components


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and value.get("type") == "object":
            yield value
        for part in value.values():
            yield from _objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)
