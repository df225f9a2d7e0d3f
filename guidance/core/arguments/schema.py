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

from guidance.core.arguments.schema_cost import SchemaCost, measure_levels
from guidance.core.arguments.schema_nodes import SchemaUnbounded
from guidance.core.arguments.schema_references import References, build_pointer

PROBLEM_LIMIT = 100
# Looks at values that a judgement may cost: one of them takes some 20 ns where the answer
# is yes or no, and up to 20 µs where all that is wrong is listed.
JUDGING_LIMIT = 600_000
LISTING_LIMIT = 4_000
# Instructions of all patterns of a policy: building some takes long, and much memory. An
# ordinary pattern has a few hundred, a letter of any language alone a thousand.
SCHEMA_PATTERN_LIMIT = 200_000
_VALUE = "the value"
# Enough for sixty letters of any language in one pattern.
_PROGRAM_BYTES = 4 << 20


class SchemaRefused(ValueError):
    """A document that is no schema, or none that can be used here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing wrong with the arguments; `path` points to it as RFC 6901 does.
    `unchecked`: nobody knows whether they are wrong, and a person has to look."""

    path: str
    message: str
    unchecked: bool = False


class Schema:
    """A schema, read once and used for many calls. `excess` is why it costs too much to
    judge by: stored schemas are read all the same, and ask a person about every call."""

    __slots__ = ("_cost", "_validator", "excess", "pattern_size")

    def __init__(self, document: Mapping[str, Any] | bool) -> None:
        self.excess: SchemaUnbounded | None = None
        references = References(document)
        self.pattern_size = references.measure_patterns(most=SCHEMA_PATTERN_LIMIT)
        try:
            if self.pattern_size > SCHEMA_PATTERN_LIMIT:
                raise SchemaUnbounded((), "its patterns are too large")
            self._cost = SchemaCost(references)
        except SchemaUnbounded as excess:
            self.excess = excess
            return
        except LookupError as error:
            raise SchemaRefused(f"not a usable schema: {error}") from None
        try:
            self._validator = Draft202012Validator(
                document if isinstance(document, bool) else dict(document),
                pattern_options=RegexOptions(size_limit=_PROGRAM_BYTES),
                mask=_VALUE,
                offline=True,
            )
        except ValidationError as error:
            where = build_pointer(error.instance_path) or "its top"
            raise SchemaRefused(
                f"not a usable schema at {where}: {error.message}"
            ) from None
        except (ValueError, TypeError) as error:
            raise SchemaRefused(f"not a usable schema: {error}") from None

    def list_problems(self, arguments: Mapping[str, Any]) -> tuple[SchemaProblem, ...]:
        """List what is wrong with the arguments, up to a hundred things; where the list
        would take long, one problem stands for all."""
        if self.excess is not None:
            where = build_pointer(self.excess.keys) or "its top"
            return (_build_unchecked(f"at {where} {self.excess}"),)
        levels = measure_levels(arguments)
        if self._cost.bound_judging(levels) > JUDGING_LIMIT:
            return (_build_unchecked("these arguments are too large for it"),)
        given = dict(arguments)
        try:
            if self._validator.is_valid(given):
                return ()
            if self._cost.bound_listing(levels) > LISTING_LIMIT:
                message = "do not fit their schema, and are too large to say where"
                return (SchemaProblem(path="", message=message),)
            errors = islice(self._validator.iter_errors(given), PROBLEM_LIMIT)
            return tuple(
                SchemaProblem(
                    path=build_pointer(error.instance_path), message=error.message
                )
                for error in errors
            )
        except ValueError as error:
            return (SchemaProblem(path="", message=f"cannot be checked: {error}"),)


def _build_unchecked(why: str) -> SchemaProblem:
    message = f"the schema asks for too much work: {why}"
    return SchemaProblem(path="", message=message, unchecked=True)


def check_schema(
    schema: Mapping[str, Any] | bool, arguments: Mapping[str, Any]
) -> tuple[SchemaProblem, ...]:
    """The same in one step; raises SchemaRefused where the schema is none."""
    return Schema(schema).list_problems(arguments)
