"""Rows JR-01 to JR-12: what may be put right for a tool that allows it, and is noted."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.arguments import (
    ArgumentProblem,
    Arguments,
    Repair,
    check_schema,
    read_arguments,
)
from guidance.core.arguments.lenient_parser import REPAIR_LIMIT
from tests.support.rows import each_row


def repair(text: str) -> tuple[dict[str, Any], list[str]]:
    assert isinstance(read_arguments(text), ArgumentProblem)
    result = read_arguments(text, lenient=True)
    assert isinstance(result, Arguments), result
    assert result.args_repaired
    return result.values, [repair.what for repair in result.repairs]


def get_problem(text: str) -> ArgumentProblem:
    result = read_arguments(text, lenient=True)
    assert isinstance(result, ArgumentProblem), result
    return result


@pytest.mark.parametrize(
    ("text", "values", "what"),
    [
        ("{'a':'foo'}", {"a": "foo"}, ["single quotes made double"] * 2),
        (
            "{a:'foo'}",
            {"a": "foo"},
            ["a key put in quotes", "single quotes made double"],
        ),
        ('{"a":2"b":3}', {"a": 2, "b": 3}, ["a missing comma put in"]),
        ('{"a" 2}', {"a": 2}, ["a missing colon put in"]),
        ('{"a":True}', {"a": True}, ["True made JSON"]),
        ('{"a":False}', {"a": False}, ["False made JSON"]),
        ('{"a":None}', {"a": None}, ["None made JSON"]),
        ('{"a":undefined}', {"a": None}, ["undefined made JSON"]),
        ('{"a":0789}', {"a": "0789"}, ["a number that is none made a string"]),
        ('{"a":0.0.1}', {"a": "0.0.1"}, ["a number that is none made a string"]),
        (
            '{"a":1b4e28ba-2fa1-11d2-883f-0016d3cca427}',
            {"a": "1b4e28ba-2fa1-11d2-883f-0016d3cca427"},
            ["a number that is none made a string"],
        ),
        ('{"a":1,}', {"a": 1}, ["a trailing comma left out"]),
        ('{"a":[1,2,],}', {"a": [1, 2]}, ["a trailing comma left out"] * 2),
        ('{"a":1 // one\n}', {"a": 1}, ["a comment left out"]),
        ('{/* b */ "a":1}', {"a": 1}, ["a comment left out"]),
        (
            '{"a":"x\ny"}',
            {"a": "x\ny"},
            ["raw line ends or control characters kept in a string"],
        ),
        ("{'a':'it\\'s'}", {"a": "it's"}, ["single quotes made double"] * 2),
        ("{'a':'say \"x\"'}", {"a": 'say "x"'}, ["single quotes made double"] * 2),
        ('```json\n{"a":1}\n```', {"a": 1}, ["a fence of backticks taken off"]),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str) else "",
)
def test_jr_02_to_05_small_things_are_put_right(
    text: str, values: dict[str, Any], what: list[str]
) -> None:
    assert repair(text) == (values, what)


@each_row(
    "text",
    ["", "{:2}", '{"a":2}{}', '{"a":"\\u12"}', '{"a":"\\q"}', '{"a": rm -rf /}', "{a}"],
)
def test_jr_06_these_stay_wrong(text: str) -> None:
    assert not get_problem(text).truncated


def test_a_repair_says_where() -> None:
    result = read_arguments("{\n  a: 1}", lenient=True)
    assert isinstance(result, Arguments)
    assert result.repairs == (Repair(line=2, column=3, what="a key put in quotes"),)


@each_row(
    "text",
    [
        '{"cmd":"echo "hi""}',
        '{"cmd": "grep "a" "b""}',
        "{'a': 'don't'}",
        '{"cmd":"x" "y":1}',
        '{"cmd" "x"}',
    ],
)
def test_a_quote_within_a_string_is_not_guessed_at(text: str) -> None:
    """Each guess would be another command."""
    get_problem(text)


def test_more_repairs_than_slips_are_refused() -> None:
    keys = ",".join(f"k{n}:1" for n in range(REPAIR_LIMIT + 1))
    assert "too much" in get_problem("{" + keys + "}").message


def test_what_is_refused_strictly_is_not_let_in_by_a_repair() -> None:
    assert "twice" in get_problem("{a: 1, 'a': 2}").message
    assert "2^53" in get_problem("{a: 9007199254740992}").message
    assert "surrogate" in get_problem("{a: '\\ud800'}").message
    assert "deeper" in get_problem("{a:" + "[" * 40 + "]" * 40 + "}").message


@pytest.mark.parametrize(
    ("value", "kind"), [("42", "integer"), ("3.5", "number"), ("TRUE", "boolean")]
)
def test_jr_07_types_are_not_changed_to_please_a_schema(value: str, kind: str) -> None:
    """A grant is bound to what the agent sent; the schema says what is wrong."""
    schema = {"properties": {"a": {"type": kind}}}
    (problem,) = check_schema(schema, {"a": value})
    assert problem.path == "/a"
    assert kind in problem.message


def test_jr_08_and_09_texts_stay_texts() -> None:
    schema = {
        "properties": {"a": {"type": "array"}, "b": {"type": ["null", "integer"]}}
    }
    problems = check_schema(schema, {"a": "[1, 2]", "b": ""})
    assert [problem.path for problem in problems] == ["/a", "/b"]


def test_jr_10_arguments_written_as_a_string() -> None:
    assert repair('"{\\"a\\": 1}"') == (
        {"a": 1},
        ["the object was written as a string"],
    )
    assert get_problem('"{\\"a\\": "').truncated
    assert get_problem('"{\\"a\\":"').truncated
