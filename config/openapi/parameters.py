"""What holds for every parameter of an address."""

from __future__ import annotations

from typing import Any


def describe_parameter(parameter: dict[str, Any]) -> None:
    """An address has no null: a parameter is left out instead. Ids are UUIDs."""
    schema = parameter["schema"]
    schema.pop("title", None)
    if schema.get("default", ...) is None:
        del schema["default"]
    kinds = [each for each in schema.pop("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        parameter["schema"] = schema = {**kinds[0], **schema}
    elif kinds:
        schema["anyOf"] = kinds
    if "description" in schema:
        parameter["description"] = schema.pop("description")
    elif parameter["in"] == "path" and schema == {"type": "string"}:
        schema["format"] = "uuid"
