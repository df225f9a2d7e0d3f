"""Rows GW-10 to GW-19: JSON Schema for the arguments of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.arguments import Schema, SchemaRefused, check_schema
from guidance.core.arguments.schema import PROBLEM_LIMIT
from tests.support.rows import each_row

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "maxLength": 1_024},
        "mode": {"enum": ["read", "write"]},
        "lines": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "additionalProperties": False,
}


def messages(arguments: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found.path, found.message) for found in check_schema(SCHEMA, arguments)]


def test_gw_10_what_fits_passes() -> None:
    assert messages({"path": "a.py", "mode": "read", "lines": 3, "tags": ["x"]}) == []


def test_gw_11_what_is_missing_is_named() -> None:
    assert messages({}) == [("", '"path" is a required property')]


def test_gw_12_what_is_unknown_is_named() -> None:
    ((path, message),) = messages({"path": "a", "colour": 1})
    assert path == ""
    assert "colour" in message


def test_gw_13_a_number_for_a_text() -> None:
    assert messages({"path": 3}) == [("/path", 'the value is not of type "string"')]


def test_gw_14_a_list_for_a_text() -> None:
    assert messages({"path": ["a"]}) == [("/path", 'the value is not of type "string"')]


def test_gw_15_a_text_that_is_too_long() -> None:
    ((path, message),) = messages({"path": "x" * 2_000})
    assert path == "/path"
    assert "1024" in message


def test_gw_16_and_17_a_value_outside_and_inside_the_list() -> None:
    assert [path for path, _ in messages({"path": "a", "mode": "delete"})] == ["/mode"]
    assert messages({"path": "a", "mode": "write"}) == []


def test_gw_18_a_schema_that_asks_nothing() -> None:
    assert check_schema({}, {"anything": [1, {}]}) == ()
    assert check_schema(True, {"anything": 1}) == ()


def test_all_that_is_wrong_is_told() -> None:
    wrong = {"mode": "x", "lines": 0, "tags": ["a", 1, 2], "other": None}
    assert [path for path, _ in messages(wrong)] == [
        "/mode",
        "/lines",
        "/tags/1",
        "/tags/2",
        "",
        "",
    ]


def test_so_much_and_no_more() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    arguments = {f"k{n}": n for n in range(500)}
    assert len(check_schema(schema, arguments)) == PROBLEM_LIMIT


def test_the_value_that_is_wrong_is_not_repeated() -> None:
    secret = "hun" + "ter2"
    for part in ("path", "mode", "lines", "tags"):
        for _, message in messages({part: secret * 200}):
            assert secret not in message


def test_paths_are_json_pointers() -> None:
    schema = {"properties": {"a/b": {"items": {"properties": {"~": {"type": "null"}}}}}}
    (problem,) = check_schema(schema, {"a/b": [{}, {"~": 1}]})
    assert problem.path == "/a~1b/1/~0"


@each_row(
    "document",
    [
        {"type": "objekt"},
        {"properties": {"a": {"minimum": "three"}}},
        {"required": "path"},
        {"pattern": "("},
        {"pattern": "(?<=a)b"},
        {"pattern": "(a)\\1"},
        {"patternProperties": {"(?=a)": True}},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/$defs/none"},
    ],
    ids=lambda document: str(document)[:40],
)
def test_a_schema_that_cannot_be_used_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(SchemaRefused, match="not a usable schema"):
        Schema(document)


def test_a_schema_nested_without_end_is_refused() -> None:
    document: dict[str, Any] = {}
    for _ in range(2_000):
        document = {"properties": {"a": document}}
    with pytest.raises(SchemaRefused):
        Schema(document)


def test_a_schema_that_refers_to_itself_ends() -> None:
    (problem,) = check_schema({"$ref": "#"}, {})
    assert problem.unchecked
    tree = {"properties": {"below": {"$ref": "#"}}, "additionalProperties": False}
    assert len(check_schema(tree, {"below": {"below": {"x": 1}}})) == 1


def test_a_pattern_that_would_be_slow_elsewhere() -> None:
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    assert len(check_schema(schema, {"a": "a" * 50_000 + "!"})) == 1


def test_what_cannot_be_checked_does_not_pass() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"a": deep}
    (problem,) = check_schema(SCHEMA, deep)
    assert "cannot be checked" in problem.message


def test_a_schema_is_read_once_and_used_often() -> None:
    schema = Schema(SCHEMA)
    assert schema.list_problems({"path": "a"}) == ()
    assert len(schema.list_problems({"path": 1})) == 1
