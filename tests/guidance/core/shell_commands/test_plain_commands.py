"""What is told of a plain command at a glance is what the walk says of it."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from guidance.core.shell_commands import (
    is_plain,
    judge_command,
    list_programs,
    split_command,
)
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.program_table import MATTERS
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.unknown import PLAIN
from tests.guidance.core.shell_commands.corpus import CASES
from tests.support.examples import examples
from tests.support.rows import each_row

KNOWN = sorted(
    {case.command for case in CASES}
    | {command for rule in RULES.values() for command in (*rule.trips, *rule.passes)}
)
WORDS = (
    *sorted({word for text in KNOWN for word in re.split(r"[\s;|&]+", text) if word}),
    *('"a b"', "'x y'", "'rm -rf /'", '"a"b', "-c", "--exec", "2>&1", ">/dev/null"),
    *("&>/dev/null", "2>x", "<y", "a=b", "\\", "$x", "`ls`", "(", "{a,b}", "#c", "12"),
)
NAMES = (*sorted(PLAIN), *sorted(MATTERS), "whoami", "k", "a-b", "Ls", "time", "if")
JOINED = (" && ", " | ", "; ", " || ", "|", " & ", "\n", " 2>&1 | ", " >/dev/null; ")
COMMANDS = st.tuples(
    st.sampled_from(("cd", "pytest", "cat", *NAMES)),
    st.lists(st.sampled_from(WORDS), max_size=4),
    st.sampled_from(JOINED),
).map(lambda drawn: " ".join([drawn[0], *drawn[1]]) + drawn[2])


def compare(text: str) -> None:
    """With the walk itself, which a budget of one's own asks for."""
    if is_plain(text):
        assert judge_command(text, budget=ReadingBudget()) == ()
    given = [
        (each.name, each.words, each.text, each.span) for each in list_programs(text)
    ]
    assert given == [
        (part.name, [token.text for token in part.tokens], part.text, part.span)
        for part in split_command(text)
    ]


@examples(3_000, derandomize=False)
@given(st.lists(COMMANDS, min_size=1, max_size=3).map("".join))
@example("cd app && pytest -q --count 3 2>&1 | tail -n 4")
@example("cat 'a b'c \"d\" | grep -rn 'rm -rf /' src >/dev/null 2>&1; ls")
def test_any_commands_are_told_alike(text: str) -> None:
    compare(text)
    compare(text.rstrip(" &|;\n"))


def test_the_whole_corpus_is_told_alike() -> None:
    for command in KNOWN:
        compare(command)


@each_row(
    "command",
    [
        "ls -la",
        "cd services/login && pytest -q -k race 2>&1 | tail -n 40",
        "git status && git diff --stat",
        "grep -rn 'two words' src/ | head -20",
        "cat README.md; wc -l *.py",
        "pytest tests -x > /dev/null || echo failed",
    ],
)
def test_most_commands_are_plain(command: str) -> None:
    assert is_plain(command)


@each_row(
    "command",
    [
        "",
        " ",
        "rm x",
        "cat ~/.ssh/id_rsa",
        "ls $HOME",
        "echo `ls`",
        "cat x | sh",
        "ls & ls",
        "ls > x",
        "ls\nls",
        "time ls",
        "if true",
        "alias ls=rm; ls",
        "A=1 ls",
        "acme delete shop",
        "acme bash",
        "select 1",
        "echo {a,b}",
        "echo é",
        "ls " + "x" * 400,
    ],
)
def test_others_are_walked(command: str) -> None:
    assert not is_plain(command)
