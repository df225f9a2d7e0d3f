"""Patterns are built once, and that may take long, too."""

from __future__ import annotations

from typing import Any

from guidance.core.arguments.schema import SCHEMA_PATTERN_LIMIT, Schema
from guidance.core.arguments.schema_references import References
from guidance.core.regex import LARGE_PROGRAM, measure_pattern
from guidance.validation import check_document

Document = dict[str, Any]

LETTERS = r"^\p{L}{1,40}$"


def test_patterns_that_are_too_large_together_are_not_built() -> None:
    def build(count: int) -> Document:
        names = [f"{LETTERS}|{n}" for n in range(count)]
        return {"properties": {name: {"pattern": name} for name in names}}

    assert Schema(build(4)).excess is None
    assert Schema(build(4)).pattern_size < SCHEMA_PATTERN_LIMIT
    excess = Schema(build(5)).excess
    assert excess is not None
    assert "patterns" in str(excess)


def test_patterns_of_property_names_count_and_the_same_one_once() -> None:
    by_name = Schema({"patternProperties": {LETTERS: {}}})
    assert by_name.pattern_size > 40_000
    again = [{"patternProperties": {LETTERS: {"pattern": LETTERS}}}] * 3
    assert Schema({"allOf": again}).pattern_size == by_name.pattern_size
    assert Schema({"properties": {"pattern": {"type": "string"}}}).pattern_size == 0


def test_patterns_are_measured_until_there_are_more_than_wanted() -> None:
    references = References({"properties": {p: {"pattern": p} for p in ("a", "bc")}})
    first, both = measure_pattern("a"), measure_pattern("a") + measure_pattern("bc")
    assert references.measure_patterns(most=first - 1) == first
    assert references.measure_patterns(most=first) == both


def test_a_pattern_of_another_dialect_counts_as_a_large_one() -> None:
    assert Schema({"pattern": "^\\u00e9+$"}).pattern_size == LARGE_PROGRAM


def test_all_schemas_of_a_policy_share_the_limit() -> None:
    def check(count: int) -> list[str]:
        schemas = {
            f"t{n}": {"pattern": f"{LETTERS}|{n}", "patternProperties": {LETTERS: {}}}
            for n in range(count)
        }
        kinds = [
            {"name": name, "parameters": schema} for name, schema in schemas.items()
        ]
        document = {"tools": {"schemas": schemas}, "loop": {"kinds": kinds}}
        return [".".join(map(str, f.loc)) for f in check_document(document).faults]

    assert check(3) == []
    assert check(4) == ["tools.schemas", "loop.kinds"]
