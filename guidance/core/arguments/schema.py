"""JSON Schema, draft 2020-12, for the arguments of a tool.

Patterns run on a linear-time engine, references never leave the document, and messages
do not repeat the value that was wrong: it may be a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

PROBLEM_LIMIT = 100
_VALUE = "the value"


class SchemaRefused(ValueError):
    """A document that is no schema, or none that can be used here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing wrong with the arguments; `path` points to it as RFC 6901 does."""

    path: str
    message: str


class Schema:
    """A schema, read once and used for many calls."""

    __slots__ = ("_validator",)

    def __init__(self, document: Mapping[str, Any] | bool) -> None:
        try:
            self._validator = Draft202012Validator(
                document if isinstance(document, bool) else dict(document),
                pattern_options=RegexOptions(),
                mask=_VALUE,
                offline=True,
            )
        except ValidationError as error:
            where = _build_pointer(error.instance_path) or "its top"
            raise SchemaRefused(
                f"not a usable schema at {where}: {error.message}"
            ) from None
        except (ValueError, TypeError) as error:
            raise SchemaRefused(f"not a usable schema: {error}") from None

    def list_problems(self, arguments: Mapping[str, Any]) -> tuple[SchemaProblem, ...]:
        """Everything that is wrong with the arguments, up to a hundred things."""
        try:
            errors = islice(self._validator.iter_errors(dict(arguments)), PROBLEM_LIMIT)
            return tuple(
                SchemaProblem(
                    path=_build_pointer(error.instance_path), message=error.message
                )
                for error in errors
            )
        except ValueError as error:
            return (SchemaProblem(path="", message=f"cannot be checked: {error}"),)


def check_schema(
    schema: Mapping[str, Any] | bool, arguments: Mapping[str, Any]
) -> tuple[SchemaProblem, ...]:
    """The same in one step; raises SchemaRefused where the schema is none."""
    return Schema(schema).list_problems(arguments)


def _build_pointer(path: list[str | int]) -> str:
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
    return "".join("/" + part for part in parts)
