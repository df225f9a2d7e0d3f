"""Rows GW-06 to GW-09, EG-11 to EG-14 and EG-41; M36 and M56 of the corpora."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.arguments import (
    build_call_key,
    find_pattern_problem,
    find_tool_problem,
    is_allowlisted,
)
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(100)


def key(**changed: Any) -> str:
    call: dict[str, Any] = {
        "run": "0192f0c1-0000-7000-8000-000000000001",
        "tool": "Write",
        "arguments": {"path": "a.py", "options": {"x": 1, "y": [1, 2]}},
        "policy_hash": "sha256:" + "0" * 64,
        **changed,
    }
    return build_call_key(**call)


def test_gw_06_the_order_of_keys_does_not_matter() -> None:
    assert key() == key(arguments={"options": {"y": [1, 2], "x": 1}, "path": "a.py"})


@each_row(
    "changed",
    [
        {"run": "another"},
        {"tool": "write"},
        {"arguments": {}},
        {"arguments": {"path": "b.py", "options": {"x": 1, "y": [1, 2]}}},
        {"arguments": {"path": "a.py", "options": {"x": 1, "y": [2, 1]}}},
        {"arguments": {"path": "a.py", "options": {"x": True, "y": [1, 2]}}},
        {"arguments": {"path": "a.py", "options": {"x": "1", "y": [1, 2]}}},
        {"policy_hash": "sha256:" + "1" * 64},
    ],
    ids=["run", "tool", "none", "value", "order", "true", "text", "policy"],
)
def test_gw_07_and_46_anything_else_is_another_call(changed: dict[str, Any]) -> None:
    assert key() != key(**changed)


def test_gw_08_a_key_is_64_hex_digits() -> None:
    assert len(key()) == 64
    assert set(key()) <= set("0123456789abcdef")


def test_gw_09_null_is_not_left_out() -> None:
    """JSON has no undefined: what is left out is absent, null is a value."""
    assert key(arguments={"a": 1, "b": None}) != key(arguments={"a": 1})


def test_parts_cannot_be_moved_from_one_field_to_another() -> None:
    assert key(run="a", tool="bc") != key(run="ab", tool="c")


def test_m36_composed_and_decomposed_names_are_two_calls() -> None:
    composed, decomposed = "caf\u00e9.py", "cafe\u0301.py"
    assert key(arguments={"path": composed}) != key(arguments={"path": decomposed})


@steadily
@given(
    arguments=st.dictionaries(
        st.text("abc"), st.integers() | st.text("xyz") | st.none(), max_size=5
    ),
    order=st.randoms(use_true_random=False),
)
def test_a_key_does_not_depend_on_how_the_object_was_made(
    arguments: dict[str, Any], order: Any
) -> None:
    names = list(arguments)
    order.shuffle(names)
    again = json.loads(json.dumps({name: arguments[name] for name in names}))
    assert key(arguments=arguments) == key(arguments=again)


def test_eg_11_and_12_a_list_of_names() -> None:
    allowed = ("Read", "Write", "Edit")
    assert not is_allowlisted("Bash", allowed)
    assert is_allowlisted("Read", allowed)


def test_eg_13_the_beginning_of_names() -> None:
    assert is_allowlisted("mcp_memory", ("mcp_*",))
    assert not is_allowlisted("xmcp_memory", ("mcp_*",))


def test_eg_14_no_list_allows_everything() -> None:
    assert is_allowlisted("Bash", None)


def test_eg_41_an_empty_list_allows_nothing() -> None:
    assert not is_allowlisted("Read", ())


def test_a_star_alone_allows_everything_and_case_counts() -> None:
    assert is_allowlisted("anything", ("*",))
    assert not is_allowlisted("read", ("Read",))
    assert not is_allowlisted("Read ", ("Read",))
    assert not is_allowlisted("Re\u0430d", ("Read",))


@each_row("pattern", ["", " ", "a*b", "*x", "**", "Ba\u202esh", "x\n"])
def test_patterns_that_would_not_do_what_they_seem_to(pattern: str) -> None:
    assert find_pattern_problem(pattern)


@each_row("pattern", ["*", "Bash", "mcp__*", "Datei lesen", "読む"])
def test_patterns_that_do(pattern: str) -> None:
    assert find_pattern_problem(pattern) is None


@each_row(
    "name",
    [
        "",
        "Bash\u202e",
        "Ba\u200bsh",
        "x" * 300,
        "🚀",
        "🚀🚀",
        " Bash",
        "Bash ",
        "a  b",
        "a\nb",
        "a\tb",
        "a\0b",
        "\ud800",
        "caf\u0065\u0301",
    ],
    ids=lambda name: ascii(name)[:24],
)
def test_m56_names_that_cannot_be_those_of_a_tool(name: str) -> None:
    assert find_tool_problem(name)


@each_row("name", ["Bash", "approve", "mcp__db__query", "a.b/c:d-e", "x y"])
def test_m56_names_that_can(name: str) -> None:
    assert find_tool_problem(name) is None
