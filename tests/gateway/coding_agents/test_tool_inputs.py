"""Tool uses as calls, what people read of them, and what is kept of their results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from common.errors import Invalid
from gateway.coding_agents.inputs import (
    HookIn,
)
from gateway.coding_agents.mapping import (
    build_call,
    build_fingerprint,
    build_input,
    build_summary,
    is_commit,
    shorten,
)
from gateway.coding_agents.results import _build_output

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")


def test_a_tool_use_is_the_call_that_runs() -> None:
    command = build_call("Bash", {"command": "ls", "timeout": 3})
    assert (command.kind, command.tool) == ("command", "Bash")
    assert command.to_fields()["arguments"] == {"command": "ls", "timeout": 3}
    edits: dict[str, dict[str, Any]] = {
        "Write": {"file_path": "a", "content": "x\ny\n"},
        "Edit": {"file_path": "a", "old_string": "x\n", "new_string": "x\ny\n"},
    }
    fields = {
        tool: build_call(tool, given).to_fields() for tool, given in edits.items()
    }
    assert [each["content"] for each in fields.values()] == ["x\ny\n", "x\ny\n"]
    assert fields["Write"]["diff_lines"] == 2
    assert fields["Edit"]["diff_lines"] == 1
    several = build_call(
        "MultiEdit",
        {
            "file_path": "a",
            "edits": [
                {"old_string": "a", "new_string": "x"},
                {"old_string": "b", "new_string": "y", "replace_all": True},
            ],
        },
    )
    assert several.kind == "multi_edit"
    assert several.to_fields()["edits"] == [
        {"old": "a", "new": "x", "replace_all": False},
        {"old": "b", "new": "y", "replace_all": True},
    ]
    patch = "*** Begin\n*** Update File: a.py\n-x\n+y\n+z\n*** Delete File: b.py\n y\n"
    patched = build_call("apply_patch", {"command": patch}).to_fields()
    assert (patched["file_path"], patched["diff_lines"]) == ("a.py, b.py", 3)
    nameless = build_call("apply_patch", {"command": "+x"}).to_fields()
    assert nameless["file_path"] == "unknown"
    other = build_call("WebFetch", {"url": "x"})
    assert (other.kind, other.to_fields()["arguments"]) == ("tool", {"url": "x"})
    for tool, given in (
        ("Bash", {}),
        ("Bash", {"command": 7}),
        ("Write", {"content": "x"}),
        ("Edit", {"file_path": "a", "old_string": "x"}),
        ("MultiEdit", {"file_path": "a", "edits": [{"new_string": "x"}, "y"]}),
        ("MultiEdit", {"file_path": "a", "edits": {}}),
        ("apply_patch", {"command": ["x"]}),
    ):
        with pytest.raises(Invalid, match="cannot be read: "):
            build_call(tool, given)


def test_what_was_granted_is_put_back_into_the_tools_own_form() -> None:
    given = {"command": "rm", "timeout": 3, "file_path": "a"}
    assert build_input(given, "Bash", "command", {"command": "ls"}) == {
        **given,
        "command": "ls",
    }
    changed = {"command": "ls", "arguments": {"command": "rm", "timeout": 9}}
    assert build_input(given, "Bash", "command", changed) == {
        "command": "ls",
        "timeout": 9,
    }
    assert build_input(given, "x", "tool", {"arguments": {"a": 1}}) == {"a": 1}
    for tool, name in (
        ("Write", "content"),
        ("Edit", "new_string"),
        ("apply_patch", "command"),
    ):
        updated = build_input(given, tool, "edit", {"content": "x"})
        assert updated == {**given, name: "x"}
    assert build_input(given, "MultiEdit", "edit", {"content": "x"}) is None
    assert build_input(given, "Write", "multi_edit", {"content": "x"}) is None


def test_only_the_label_of_a_command_makes_no_difference() -> None:
    one = build_fingerprint("Bash", {"command": "ls", "description": "a"})
    assert one == build_fingerprint("Bash", {"command": "ls", "description": "b"})
    others = [
        build_fingerprint("Bash", {"command": "ls", "timeout": 1}),
        build_fingerprint("Bash", {"command": "ls "}),
        build_fingerprint("Task", {"command": "ls", "description": "a"}),
        build_fingerprint("Task", {"command": "ls", "description": "b"}),
        build_fingerprint("Bash", {"command": "\ud800"}),
    ]
    assert len({one, *others}) == 6


def test_a_commit_is_found_and_nothing_else_is_one() -> None:
    for command in (
        "git commit",
        "cd a && git -C b commit -m x",
        "x; git commit",
        "/usr/bin/git commit",
    ):
        assert is_commit({"command": command}), command
    for command in (
        "git log | grep commit-x; ls",
        "git; commit",
        "echo commit git",
        "git commitx",
        "github commit",
    ):
        assert not is_commit({"command": command}), command
    for other in ({}, {"command": 7}, {"command": None}):
        assert not is_commit(other)


def test_people_read_what_a_tool_is_used_on() -> None:
    assert build_summary("Bash", {"description": "d", "command": "ls"}) == "Bash: ls"
    assert build_summary("Read", {"command": "", "path": "p"}) == "Read: p"
    assert build_summary("X", {"url": 7}) == build_summary("X", {}) == "X"
    assert shorten("a\n b " + "x" * 200) == "a b " + "x" * 115 + "…"
    assert shorten("x" * 120) == "x" * 120


def output(**body: Any) -> Any:
    return _build_output(SimpleNamespace(body=HookIn(session_id="s", **body)))  # type: ignore[arg-type]


def test_of_a_result_a_person_reads_the_beginning_and_the_end() -> None:
    assert output(tool_response={"stdout": "o", "stderr": "e", "x": 1}) == "o\ne"
    assert output(tool_response={"stdout": "", "stderr": "e"}) == "e"
    mixed = {"stdout": "o", "stderr": 7}
    assert output(tool_response=mixed) == mixed
    assert output(tool_response={"a": 1}) == {"a": 1}
    assert output(tool_response="t", error="e") == "e"
    assert output() is None
    assert output(tool_response="x" * 2000) == "x" * 2000
    long = output(tool_response="a" * 1500 + "b" * 1500)
    assert long == f"{'a' * 1000}\n… 1,000 characters left out …\n{'b' * 1000}"
    data = output(tool_response={"a": "x" * 5000})
    assert isinstance(data, str)
    assert data.startswith('{"a":"xxx')
    assert "characters left out" in data
