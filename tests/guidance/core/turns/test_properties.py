"""What holds for every text, and what reading one costs."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core import turns
from guidance.core.turns.default_phrases import COMPLETION_PHRASES, INTENT_PHRASES
from guidance.core.turns.facts import FINISH_REASONS, LAST_EVENTS
from guidance.core.turns.judge_turn import ACTIONS
from guidance.core.turns.masking import mask
from guidance.core.turns.memory import TurnMemory
from guidance.core.turns.sentences import split_sentences
from tests.guidance.core.turns.builders import RULES, judge, keenly, make_turn
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(300)
# What the classes of patterns tell apart.
CHARACTERS = [
    *map(chr, range(128)),
    "\u2026",
    "\u061f",
    "\u3002",
    "\ufffc",
    "é",
    "\u200b",
]

PIECES = [
    *INTENT_PHRASES,
    *COMPLETION_PHRASES,
    *("not", "if", "because", "you", "?", "!", ".", ",", " ", "\n", "\n\n", "\r\n"),
    *("```", "```py", "~~~", "`", "``", '"', "'", "’", "“", "”", "«", "#", "> "),
    *("- ", "* ", "**", "_", "__", "<think>", "</think>", "https://a.b/?c=", "(", ")"),
    *("|", ":", "=", "\ufffc", "\u200b", "\0", "\ud800", "İ", "ß", "\u061f", "1."),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=25).map(
    lambda pieces: " ".join(pieces)
) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
facts = st.fixed_dictionaries(
    {
        "finish_reason": st.none() | st.sampled_from(FINISH_REASONS),
        "last_event": st.sampled_from(LAST_EVENTS),
        "pending_todos": st.integers(0, 3),
        "recent_tool_ratio": st.floats(0, 1),
        "retries_used": st.integers(0, 4),
        "reminded_todos": st.integers(0, 3),
    }
)
QUESTIONS = [
    "Shall I proceed with dropping the production table?",
    "Would you like me to continue?",
    "Do you want me to delete it?",
    "May I force-push?",
    "Please confirm.",
    "Let me know whether I should proceed.",
    "I am waiting for your approval.",
    "Is it okay to deploy?",
    "Proceed?",
]


@steadily
@given(
    text=texts, question=st.sampled_from(QUESTIONS), gap=st.sampled_from([" ", "\n\n"])
)
def test_a_text_that_ends_with_a_request_is_never_sent_on(
    text: str, question: str, gap: str
) -> None:
    verdict = keenly(text + gap + question)
    assert verdict.action == "needs_human"
    assert verdict.question


@steadily
@given(text=texts, turn=facts, calls=st.integers(0, 1))
def test_no_text_is_trouble(text: str, turn: dict[str, Any], calls: int) -> None:
    verdict = judge(text, tool_calls=calls, **turn)
    assert verdict.action in ACTIONS
    assert "could not be judged" not in verdict.reason
    assert verdict == judge(text, tool_calls=calls, **turn)
    TurnMemory().remember_turn(
        make_turn(text, **turn), action=verdict.action, tools=text
    )


@steadily
@given(text=texts, turn=facts, phrase=st.sampled_from(COMPLETION_PHRASES))
def test_saying_that_it_is_done_sends_nothing_on(
    text: str, turn: dict[str, Any], phrase: str
) -> None:
    before = judge(text, **turn).action
    for more in (f"{text}\n\nWell, {phrase}.", f"Well, {phrase}.\n\n{text}"):
        after = judge(more, **turn).action
        assert after != "auto_continue" or before == "auto_continue"


@steadily
@given(text=texts)
def test_hiding_moves_nothing(text: str) -> None:
    assert len(mask(text)) == len(text)
    for sentence in split_sentences(text):
        assert 0 <= sentence.start < sentence.end <= len(text)


@steadily
@given(text=texts, turn=facts)
def test_who_was_sent_on_often_enough_is_not_sent_on(
    text: str, turn: dict[str, Any]
) -> None:
    often = {**turn, "retries_used": RULES.max_retries}
    assert judge(text, **often).action != "auto_continue"


BOMBS = [
    *("a ", "?", "?)", ". ", "` ", "`a", '"a ', "'a ", " 'a", ', "a', "``` ", "```\n"),
    *("let me ", "now i'll ", "not ", "shall ", "<think>", "http://", "a,", "#\n"),
    *("\n", " ", "> ", "~~~a\n", " -", "Why? ", "Why? Because. ", "please "),
    *("i'm done ", "not i'm done ", "is it ", "\ud800", "İ", "_", "'"),
]


def calls(text: str) -> int:
    """How many functions are called, those written in C included."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        keenly(text)
    finally:
        sys.setprofile(None)
    return count


@each_row("bomb", BOMBS)
def test_twice_the_text_is_no_more_than_twice_the_work(bomb: str) -> None:
    times = 8_192 // len(bomb)
    once, twice = calls(bomb * times), calls(bomb * times * 2)
    assert twice < 2.2 * once + 200
    assert twice < 16 * 16_384


def test_the_greatest_text_is_read() -> None:
    text = ('Now let me fix it, `f?` and "g?". ' * 10_000)[: 256 * 1024]
    assert keenly(text).action == "auto_continue"
    assert keenly(text + " Shall I?").action == "needs_human"


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(turns.__path__, f"{turns.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{module.name}.{name}", value


def find_given_back(parsed: Any, flags: int, then: Any = ()) -> Iterator[str]:
    """Characters that an endless repeat takes in, and with which what follows can begin:
    only there can a shorter match be worth a try."""
    items = [*parsed, *then]
    for place, (operation, argument) in enumerate(parsed):
        rest = items[place + 1 :]
        if str(operation).endswith("_REPEAT") and argument[1] == parser.MAXREPEAT:
            yield from begin(argument[2], flags) & begin(rest, flags)
            # Inside it, the next turn may follow as well.
            rest = [(operation, (0, *argument[1:])), *rest]
        elif str(operation).startswith("ASSERT"):
            rest = []
        for part in flatten(argument):
            yield from find_given_back(part, flags, rest)


def flatten(argument: Any) -> Iterator[Any]:
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from flatten(part)


def begin(items: Any, flags: int) -> set[str]:
    """The characters with which a match can begin; nothing at all follows them all."""
    found: set[str] = set()
    for operation, argument in items:
        name = str(operation)
        item = parser.SubPattern(parser.State(), [(operation, argument)])
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            return found | set(filter(compiler.compile(item, flags).match, CHARACTERS))
        if str(argument) == "AT_END":
            return found | {"\n"}
        if name == "ASSERT" and argument[0] == 1:
            return found | begin(argument[1], flags)
        if name == "AT" or name.startswith("ASSERT"):
            continue
        for part in flatten(argument):
            found |= begin(part, flags)
        if name == "GROUPREF" or item.getwidth()[0]:
            return found
    return found


def test_no_pattern_goes_back_over_what_it_read() -> None:
    """What functions called say nothing about: the work inside a pattern."""
    found = list(patterns())
    assert len(found) >= 4
    assert {*find_given_back(parser.parse("x(?:a|b+)b"), 0)} == {"b"}
    assert {*find_given_back(parser.parse("(?:[ab]+c)*$"), 0)} == set()
    assert {*find_given_back(parser.parse("(?:[ab]+c?)*$"), 0)} == {"a", "b"}
    assert {*find_given_back(parser.parse("[a\\s]+(?:c|)$"), 0)} == {"\n"}
    given_back = {
        name: {*find_given_back(parser.parse(each.pattern, each.flags), each.flags)}
        for name, each in found
    }
    # What follows the tildes of a fence always matches.
    assert given_back.pop("guidance.core.turns.masking._FENCE") == {"~"}
    assert not any(given_back.values()), given_back
