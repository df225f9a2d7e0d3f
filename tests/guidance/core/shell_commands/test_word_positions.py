"""Plain words are placed by a quicker reader, which must say the same as the other."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from guidance.core.shell_commands import (
    Part,
    list_programs,
    split_command,
    word_positions,
)
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.origin import make_top_origin
from guidance.core.shell_commands.shell.reader import read_shell
from guidance.core.shell_commands.shell.tree import Simple
from guidance.core.shell_commands.word_positions import MOST_PLACED, place_words
from tests.guidance.core.shell_commands.corpus import CASES
from tests.support.examples import examples

PIECES = (
    *("ls", "a=b", "12", "2", "-x", "é", "#", "a#b", "\0", "{a,b}", "*", "~", "\x0b"),
    *(" ", "  ", "\t", "\r", "\n", "\\\n", "\\ ", ";", "|", "||", "&", "&&", "(", ")"),
    *(">", ">>", "<", ">&", "2>&1", ">/dev/null", "&>", "<(", "<<E", "<<<", ">|", "<>"),
    *("'", '"', "$x", "$(ls)", "`ls`", "then", "if", "fi", "for", "done", "{", "}"),
)


def place(text: str, steps: int) -> list[tuple[list[tuple[int, int]], int]]:
    """Of every command: the spans, and what is left of so many steps."""
    origin = make_top_origin(text)
    script = read_shell(text, origin=origin, budget=ReadingBudget())
    placed = []
    for item in script.items:
        if isinstance(item, Simple):
            budget = ReadingBudget(steps=steps)
            spans = place_words(script, item, budget)
            # How far below nothing it went is nobody's concern.
            placed.append((spans, max(budget.steps, -1)))
    return placed


def place_slowly(text: str, steps: int) -> list[tuple[list[tuple[int, int]], int]]:
    with patch.object(word_positions, "_find_plain_spans", return_value=None):
        return place(text, steps)


@examples(2_000, derandomize=False)
@given(
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    st.sampled_from([0, 1, 3, 4, 5, 8, MOST_PLACED]),
)
@example("cd app && pytest -q --count 3 2>&1 | tail -n 4", MOST_PLACED)
@example("ls a", 3)
@example("ls a;", 3)
def test_any_pieces_are_placed_alike(text: str, steps: int) -> None:
    assert place(text, steps) == place_slowly(text, steps)


def test_the_whole_corpus_is_placed_alike() -> None:
    wrong = [
        case.command
        for case in CASES
        if place(case.command, MOST_PLACED) != place_slowly(case.command, MOST_PLACED)
    ]
    assert wrong == []


def test_programs_are_the_parts_of_a_command() -> None:
    def say(part: Part) -> tuple[object, ...]:
        words = [token.text for token in part.tokens]
        return part.name, words, part.text, part.span

    wrong = [
        case.command
        for case in CASES
        if [(p.name, p.words, p.text, p.span) for p in list_programs(case.command)]
        != list(map(say, split_command(case.command)))
    ]
    assert wrong == []
