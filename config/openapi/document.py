"""The OpenAPI document, built from the operations and refused where it would lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninja.openapi.schema import OpenAPISchema


class NameTaken(Exception):
    """Two different schemas have one name: the document would show only the last."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Two schemas of the API are named {name}, and they differ: rename one."
        )


class Document(OpenAPISchema):
    def add_schema_definitions(self, definitions: Mapping[str, Any]) -> None:
        for name, definition in definitions.items():
            if self.schemas.setdefault(name, definition) != definition:
                raise NameTaken(name)
