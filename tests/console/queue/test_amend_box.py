"""The box in which a call is changed: what stands in it, and what is made of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from common.errors import Invalid
from console.queue.amending import box as boxes
from console.queue.amending.box import build_amend_box
from console.queue.amending.parts import AmendPart
from console.queue.amending.texts import LIMIT, NothingChanged
from console.queue.remember import parse_remember

pytestmark = pytest.mark.once("uses no database")


def build_content(kind: str = "command", **shown: Any) -> dict[str, Any]:
    return {"call_kind": kind, "shown": shown}


def get_field(content: dict[str, Any]) -> AmendPart:
    """The only field of its box."""
    (part,) = build_amend_box(content).parts
    return part


def parse_amendment(content: dict[str, Any], typed: str) -> dict[str, Any]:
    return boxes.parse_amendment(content, {"amended": typed})


def test_a_text_is_changed_as_it_stands() -> None:
    command = build_content(command="rm -rf a\nls")
    box = get_field(command)
    assert (box.text, box.escaped) == ("rm -rf a\nls", False)
    changed = parse_amendment(command, "rm -ri a\r\nls")
    assert changed == {"command": "rm -ri a\nls"}, "a browser sends every end as CRLF"
    with pytest.raises(NothingChanged):
        parse_amendment(command, "rm -rf a\r\nls")
    edit = build_content("edit", content="a\r\nb\r\n", file_path="x")
    assert get_field(edit).text == "a\nb\n"
    assert parse_amendment(edit, "a\r\nc\r\n") == {"content": "a\r\nc\r\n"}
    with pytest.raises(NothingChanged):
        parse_amendment(edit, "a\nb\n")
    mixed = build_content("edit", content="a\r\nb\n")
    assert get_field(mixed).escaped, "a box would make all ends alike"
    for content, ends in (("a\rb", True), ("a\nb", False), ("ab", False)):
        assert get_field(build_content("edit", content=content)).escaped == ends


def test_what_nobody_sees_is_changed_as_json() -> None:
    hidden = build_content(command="ls \u200b\u200b#")
    box = get_field(hidden)
    assert box.escaped
    assert "\\u200b\\u200b" in box.text
    assert json.loads(box.text) == {"command": "ls \u200b\u200b#"}
    assert parse_amendment(hidden, '{"command": "ls"}') == {"command": "ls"}
    with pytest.raises(NothingChanged):
        parse_amendment(hidden, box.text)
    for typed in ('{"tool": "x"}', '{"command": 7}', '{"command": "a", "b": 1}', "{}"):
        with pytest.raises(Invalid, match="Only the text of command"):
            parse_amendment(hidden, typed)


def test_arguments_of_a_tool_are_changed_as_json() -> None:
    tool = build_content("tool", arguments={"b": 1, "a": "ä"})
    box = get_field(tool)
    assert (json.loads(box.text), box.escaped) == ({"b": 1, "a": "ä"}, False)
    assert parse_amendment(tool, '{"b": 2}') == {"arguments": {"b": 2}}
    with pytest.raises(NothingChanged):
        parse_amendment(tool, '{"a": "ä", "b": 1}')
    with pytest.raises(Invalid, match=r"no JSON yet: .*line 1, column"):
        parse_amendment(tool, '{"b": 2')


def test_what_has_no_box_says_why() -> None:
    content = build_content("tool", arguments_json="{")
    assert "cannot be read" in build_amend_box(content).why_not
    with pytest.raises(Invalid, match="cannot be read"):
        parse_amendment(content, "{}")
    edit = {"old": "a", "new": "b", "replace_all": False}
    many = build_content("multi_edit", file_path="a", edits=[edit] * 51)
    assert "too long" in build_amend_box(many).why_not
    longest = build_content(command="x" * LIMIT)
    assert get_field(longest).text == "x" * LIMIT
    assert (
        "too long" in build_amend_box(build_content(command="x" * (LIMIT + 1))).why_not
    )


def test_a_text_has_an_end_and_no_null() -> None:
    command = build_content(command="ls")
    assert parse_amendment(command, "x" * LIMIT) == {"command": "x" * LIMIT}
    crlf = "\r\n".join(["x"] * (LIMIT // 2))
    assert parse_amendment(command, crlf)["command"].count("\n") == LIMIT // 2 - 1
    with pytest.raises(Invalid, match="at most 100,000 characters"):
        parse_amendment(command, "x" * (LIMIT + 1))
    with pytest.raises(Invalid, match="cannot be stored"):
        parse_amendment(command, "a\x00b")


def test_what_is_remembered_is_chosen_whole() -> None:
    assert parse_remember({}) is None
    assert parse_remember({"remember": "", "hours": "x"}) is None
    chosen = parse_remember({"remember": "shape", "hours": "8", "uses": "50"})
    assert chosen is not None
    assert (chosen.scope, chosen.hours, chosen.uses) == ("shape", 8, 50)
    for wrong in (
        {"remember": "all", "hours": "8", "uses": "50"},
        {"remember": "exact", "hours": "", "uses": "50"},
        {"remember": "exact", "hours": "8", "uses": "0"},
        {"remember": "exact", "hours": "²", "uses": "1"},
        {"remember": "exact", "hours": "100000", "uses": "1"},
    ):
        with pytest.raises(Invalid, match="Choose again"):
            parse_remember(wrong)
