"""What a call is given: raw arguments, schemas, keys, allowlists and patterns."""

from __future__ import annotations

from guidance.core.arguments.argument import ArgumentProblem, Arguments, Repair
from guidance.core.arguments.parser import read_arguments
from guidance.core.arguments.schema import (
    SCHEMA_PATTERN_LIMIT,
    Schema,
    SchemaProblem,
    SchemaRefused,
    check_schema,
)
from guidance.core.arguments.tool_names import (
    TOOL_PATTERN,
    build_call_key,
    choose_pattern,
    find_pattern_problem,
    find_tool_problem,
    is_allowlisted,
)
from guidance.core.regex import Pattern, PatternRefused, compile_pattern

__all__ = [
    "SCHEMA_PATTERN_LIMIT",
    "TOOL_PATTERN",
    "ArgumentProblem",
    "Arguments",
    "Pattern",
    "PatternRefused",
    "Repair",
    "Schema",
    "SchemaProblem",
    "SchemaRefused",
    "build_call_key",
    "check_schema",
    "choose_pattern",
    "compile_pattern",
    "find_pattern_problem",
    "find_tool_problem",
    "is_allowlisted",
    "read_arguments",
]
