"""Every answer that a test gets is held against the API's own document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

PREFIX = "/api/v1"
_TEXT = ("application/json", "application/problem+json")


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
    operation = find_operation(answer.request.method, answer.request.url.path)
    if operation is None or answer.status_code == 500:
        return  # no address of ours, or a fault of ours: neither is documented
    name, status = operation["operationId"], str(answer.status_code)
    assert status in operation["responses"], f"{name} does not document {status}"
    described = resolve(operation["responses"][status])
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    if "content" not in described:
        assert not answer.read(), f"{name} {status} has a body"
        return
    assert media_type in described["content"], f"{name} {status}: {media_type}"
    if media_type not in _TEXT:
        return
    answer.read()
    schema = described["content"][media_type]["schema"]
    faults = list(validator(json.dumps(schema)).iter_errors(answer.json()))
    assert not faults, f"{name} {status}: {faults[0]}"
    if media_type == "application/problem+json":
        slug = answer.json()["type"].removeprefix("/problems/")
        assert slug in described["x-problems"], f"{name} {status}: {slug}"


@cache
def validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """For this schema within the document; fields that it does not name are faults."""
    components = deepcopy(document()["components"])
    for node in _objects(components["schemas"]):
        node.setdefault("additionalProperties", False)
    whole = {**json.loads(schema), "components": components}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and value.get("type") == "object":
            yield value
        for part in value.values():
            yield from _objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)
