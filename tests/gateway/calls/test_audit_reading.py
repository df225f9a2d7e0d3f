"""Commands that reach a shell are read, however a tool is told about them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.gateway.calls.calls import command, gates, judge, tool
from tests.support.builders import start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges texts and requests; nothing it asks is kept")

WORDS = ["-rf", "/srv"]
GONE = "rm -rf /srv"


@each_row(
    "arguments",
    [
        {"command": "rm", "args": WORDS},
        {"command": {"program": "rm", "args": WORDS}},
        {"command": {"executable": "rm", "arguments": WORDS}},
        {"command": ["rm", *WORDS, 1]},
        {"command": ["rm", WORDS]},
        {"commands": [["ls"], ["rm", *WORDS]]},
        {"command": "bash", "args": ["-c", GONE]},
        {"command": "bash", "stdin": GONE},
        *(
            {name: GONE}
            for name in (
                *("Command", "command ", "commands", "shell", "code", "argv"),
                *("bash_command", "bashCommand", "cmdline", "stdin", "input"),
            )
        ),
        {"Query": "DROP TABLE users"},
        {"queries": ["SELECT 1", "DROP TABLE users"]},
        {"sql": ["DROP", "TABLE users"]},
    ],
)
def test_a_shell_tool_is_read(agent: httpx.Client, arguments: dict[str, Any]) -> None:
    answer = tool(agent, start_run(agent), "Bash", **arguments)
    assert answer["decision"] == "require-confirmation"
    assert set(gates(answer)) == {"destructive"}


@each_row(
    ("text", "arguments"),
    [
        ("rm", {"args": WORDS}),
        ("bash", {"stdin": GONE}),
        ("bash", {"command": "bash", "input": GONE}),
        ("ls", {"script": GONE}),
        ("ls", {"steps": [{"Cmd": GONE}]}),
    ],
)
def test_the_arguments_of_a_command_are_read_with_it(
    agent: httpx.Client, text: str, arguments: dict[str, Any]
) -> None:
    answer = command(agent, start_run(agent), text, arguments=arguments)
    assert answer["decision"] == "require-confirmation"
    assert gates(answer) == ["destructive"]


@pytest.mark.parametrize("name", ["command", "Command", "command "])
def test_another_command_in_the_arguments_is_refused(
    agent: httpx.Client, name: str
) -> None:
    answer = command(agent, start_run(agent), "ls", arguments={name: GONE})
    assert answer["decision"] == "block"
    assert gates(answer) == ["arguments", "destructive"]


@each_row(
    "arguments",
    [
        {"query": "how to drop a table in postgres"},
        {"queries": ["best way to delete a branch", "drop shadow css"]},
        {"command": "git", "args": ["commit", "-m", "drop table users"]},
        {"command": "git", "args": ["commit", "-m", "don't rm -rf it"]},
        {"command": "grep", "args": ["-r", GONE, "docs"]},
        {"command": "cat", "stdin": GONE},
        {"command": "ls", "shell": "/bin/bash", "env": {"LANG": "C"}},
        {"code": GONE, "input": GONE, "name": "rm", "args": WORDS},
    ],
)
def test_words_that_are_only_data_pass(
    agent: httpx.Client, arguments: dict[str, Any]
) -> None:
    answer = judge(agent, "tool", tool="Search", arguments=arguments)
    assert (answer["decision"], answer["findings"]) == ("allow", [])


def test_words_of_a_command_trip_once(agent: httpx.Client) -> None:
    argv = ["git", "commit", "-m", "drop table users"]
    answer = judge(agent, "tool", tool="Bash", arguments={"argv": argv})
    assert len(answer["findings"]) == 1
