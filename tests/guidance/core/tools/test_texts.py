"""Which texts of a call are code, wherever they stand."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.tools.calls import ToolCall
from guidance.core.tools.marked_arguments import Marks
from guidance.core.tools.texts import Text, list_holders, list_marked_texts, list_texts
from tests.guidance.core.tools.builders import judged, use
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(200)


def marked(arguments: dict[str, Any], *marks: str, tool: str = "Bash") -> list[Text]:
    held = list_holders(arguments, "/arguments")
    return list(list_marked_texts(held, Marks(marks).get_names(tool)))


def test_every_text_is_found_with_its_place_and_key_names_are_none() -> None:
    value = {"a": "x", "b/c": [1, "y", {"~d": "z"}], "e": None, "f": True}
    assert list(list_texts(value)) == [
        Text("/a", "x"),
        Text("/b~1c/1", "y"),
        Text("/b~1c/2/~0d", "z"),
    ]
    assert list(list_texts("alone")) == [Text("", "alone")]


def test_a_mark_is_found_at_any_depth() -> None:
    arguments = {"steps": [{"name": "one", "command": "ls"}], "command": "pwd"}
    assert marked(arguments, "*.command") == [
        Text("/arguments/command", "pwd"),
        Text("/arguments/steps/0/command", "ls"),
    ]


def test_all_texts_under_a_marked_key_are_code() -> None:
    arguments = {"command": {"first": "ls", "then": [{"x": "pwd"}]}}
    places = [text.place for text in marked(arguments, "*.command")]
    assert places == ["/arguments/command/first", "/arguments/command/then/0/x"]


@each_row(
    ("mark", "tool", "found"),
    [
        ("*.command", "Anything", True),
        ("Bash.command", "Bash", True),
        ("Bash.command", "bash", True),
        ("Bash.command", "Bashful", False),
        ("Bash*.command", "Bashful", True),
        ("mcp.sh.command", "mcp.sh", True),
        ("*.Command ", "Bash", True),
        ("*.cmd", "Bash", False),
    ],
)
def test_a_mark_names_a_tool_and_an_argument(mark: str, tool: str, found: bool) -> None:
    assert bool(marked({"command": "ls"}, mark, tool=tool)) is found


def test_a_list_of_words_is_one_command_and_each_may_be_one() -> None:
    texts = marked({"cmd": ["bash", "-c", "rm -rf /"]}, "*.cmd")
    assert texts == [
        Text("/arguments/cmd", "bash -c 'rm -rf /'", joined=True),
        Text("/arguments/cmd/0", "bash"),
        Text("/arguments/cmd/1", "-c"),
        Text("/arguments/cmd/2", "rm -rf /"),
    ]
    assert marked({"cmd": ["ls", [5, True], None]}, "*.cmd") == [
        Text("/arguments/cmd", "ls 5 true", joined=True),
        Text("/arguments/cmd/1", "5 true", joined=True),
        Text("/arguments/cmd/0", "ls"),
    ]
    assert marked({"cmd": []}, "*.cmd") == []


@steadily
@given(words=st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_joined_words_are_read_back_as_the_same_words(words: list[str]) -> None:
    (joined,) = [text for text in marked({"cmd": words}, "*.cmd") if text.joined]
    if "\0" not in joined.text:
        assert shlex.split(joined.text) == words


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["rm", "-rf", "/srv"], "/arguments/cmd"),
        (["sudo", "rm", "-rf", "/srv"], "/arguments/cmd"),
        (["ls", "rm -rf /srv"], "/arguments/cmd/1"),
    ],
)
def test_words_are_judged_one_by_one_and_together_and_told_once(
    words: list[str], place: str
) -> None:
    (finding,) = judged(use(cmd=words)).findings
    assert finding.details["argument"] == place
    assert (finding.details["span"] is None) is (place == "/arguments/cmd")


def test_words_that_are_only_data_do_not_trip_unless_they_could_be_commands() -> None:
    """A list may be one of commands as well, and nobody says which it is."""
    assert judged(use(cmd=["grep", "-r", "rm", "notes"])).findings == ()
    assert judged(use(cmd=["git", "commit", "-m", "Fix the build"])).findings == ()
    assert judged(use(cmd=["git", "commit", "-m", "drop table users"])).findings


def test_a_text_that_stands_twice_is_told_once() -> None:
    verdict = judged(use(command="rm -rf /srv", again={"script": "rm -rf /srv"}))
    assert len(verdict.findings) == 1


def test_sql_is_read_as_sql_and_commands_as_commands() -> None:
    assert judged(use(sql="DELETE FROM users")).decision == "require-confirmation"
    assert judged(use(text="DELETE FROM users")).decision == "allow"
    assert judged(use(text="rm -rf /"), shell_arguments=[]).decision == "allow"
    marks = {"shell_arguments": ["Tool.text"]}
    assert judged(use(text="rm -rf /"), **marks).decision == "require-confirmation"


@each_row(
    "name",
    [
        "\u3000" * 1_001 + "command",
        "\u200b" * 100_000 + "command",
        "-" * 100_000 + "Command",
        "\u200b".join("command") + "é\u0301"[1:] * 2_000,
    ],
)
def test_no_number_of_signs_makes_another_name_of_it(name: str) -> None:
    verdict = judged(use(tool="Bash", **{name: "rm -rf / --no-preserve-root"}))
    assert verdict.decision != "allow"


@each_row("name", ["Command", "command ", "COMMAND", "shell-command", "shellCommand"])
def test_a_name_counts_however_it_is_written(name: str) -> None:
    assert marked({name: "ls"}, "*.command", "*.shell_command")


def joined(arguments: dict[str, Any]) -> list[Text]:
    return [text for text in marked(arguments, "*.command", "*.argv") if text.joined]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"command": "rm", "args": ["-rf", "a b"]}, "rm -rf 'a b'"),
        ({"command": "rm", "Arguments": "-rf x"}, "rm -rf x"),
        ({"command": ["rm"], "params": ["-rf", 1]}, "rm -rf 1"),
    ],
)
def test_a_program_and_its_words_are_one_command(
    arguments: dict[str, Any], line: str
) -> None:
    assert joined(arguments)[-1] == Text("/arguments", line, joined=True)
    deeper = joined({"steps": [arguments]})
    assert deeper[-1] == Text("/arguments/steps/0", line, joined=True)


def test_a_command_in_parts_is_put_together() -> None:
    parts = {"program": "rm", "args": ["-rf", "/srv"]}
    whole = Text("/arguments/command", "rm -rf /srv", joined=True)
    assert whole in joined({"command": parts})
    assert whole._replace(place="/arguments/command/0") in joined({"command": [parts]})


def test_lists_in_lists_are_read_once_at_the_top_and_once_at_the_bottom() -> None:
    value: list[Any] = ["rm", "-rf"]
    for _ in range(50):
        value = [value, "x"]
    assert len(joined({"command": value})) == 2


def test_what_stands_beside_sql_is_no_part_of_it() -> None:
    values = {"sql": "DELETE FROM t WHERE id = ?", "params": [5], "input": "x"}
    assert [text.text for text in marked(values, "*.sql")] == [values["sql"]]


def test_the_input_of_a_command_is_read_as_the_command_would() -> None:
    for shell in ("bash", "cd x && bash", "bash; true", "sh -s"):
        call = use(command=shell, stdin="rm -rf /srv")
        assert judged(call).decision == "require-confirmation"
    assert judged(use(command="cat", stdin="rm -rf /srv")).decision == "allow"
    assert judged(use(command="bash", input=["ls", "rm -rf /srv"])).findings
    message = use(command="git", args=["commit", "-F", "-"], input="rm -rf x")
    assert judged(message).decision == "allow"


def test_a_marked_name_in_two_spellings_that_differ_is_refused() -> None:
    twice = ToolCall(tool="Bash", arguments={"command": "ls", "Command": "pwd"})
    assert judged(twice).decision == "block"
    same = ToolCall(tool="Bash", arguments={"command": "ls", "Command": "ls"})
    assert judged(same).decision == "allow"
    free = ToolCall(tool="Bash", arguments={"note": "ls", "Note": "pwd"})
    assert judged(free).decision == "allow"
