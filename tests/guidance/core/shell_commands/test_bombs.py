"""Texts made to be slow: the work is counted, and what is too much goes to a person.

No judge is timed here; `make bench-gates` does. Patterns get a time to come to an end in.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import sys
from collections.abc import Callable, Iterator
from random import Random
from re import _compiler  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import pytest

from guidance.core import shell_commands
from guidance.core.shell_commands import judge_command, judge_sql, split_command
from guidance.core.shell_commands.code.language import Language
from guidance.core.shell_commands.limits import MAX_CHARACTERS, MAX_FINDINGS, MAX_PARTS
from tests.guidance.core.shell_commands.corpus import sizes
from tests.support.rows import each_row

KIB = 1024
MIB = 1024 * KIB
# Calls of functions, those written in C included; each is well under a microsecond.
MOST_CALLS = 500_000
JUDGES = (judge_command, judge_sql, split_command)


compile_parsed = _compiler.compile


class Enough(BaseException):
    """Not an Exception, so that nothing takes it for one of its own."""


def calls(judge: Callable[[str], object], text: str) -> int:
    """How many functions are called; one more than allowed is enough to know."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > MOST_CALLS:
            raise Enough

    sys.setprofile(counted)
    try:
        judge(text)
    except Enough:
        pass
    finally:
        sys.setprofile(None)
    return count


def too_slow(judge: Callable[[str], object], texts: dict[str, str]) -> list[str]:
    return [name for name, text in texts.items() if calls(judge, text) > MOST_CALLS]


@pytest.mark.parametrize("size", [2 * KIB, 20 * KIB, MAX_CHARACTERS])
def test_no_bomb_takes_more_work_than_is_allowed(size: int) -> None:
    assert too_slow(judge_command, dict(sizes.bombs(size))) == []


@pytest.mark.parametrize("judge", JUDGES)
def test_what_was_slow_once_is_so_no_more(judge: Callable[[str], object]) -> None:
    assert too_slow(judge, dict(sizes.FOUND_BY_FUZZING)) == []


@pytest.mark.parametrize("size", [2 * KIB, 100 * KIB])
def test_a_usual_command_costs_little_and_is_let_alone(size: int) -> None:
    for name, text in sizes.usual(size).items():
        assert calls(judge_command, text) < 4 * size, name
        assert [found for found in judge_command(text) if not found.uninspectable] == []


@pytest.mark.parametrize("size", [2 * KIB, 20 * KIB])
def test_the_danger_at_the_end_of_a_long_command_is_found(size: int) -> None:
    for name, text in sizes.dangerous(size).items():
        assert "delete-folder" in [found.rule for found in judge_command(text)], name


@pytest.mark.parametrize("size", [MAX_CHARACTERS + 1, MIB])
def test_what_is_too_long_is_not_read_and_goes_to_a_person(size: int) -> None:
    for text in sizes.bombs(size).values():
        if len(text) <= MAX_CHARACTERS:
            continue
        for judge in (judge_command, judge_sql):
            [found] = judge(text)
            assert (found.rule, found.uninspectable) == ("opaque-size", True)
            assert found.span == (0, len(text))
        assert split_command(text) == ()
        assert calls(judge_command, text) < 100


@each_row(
    "text",
    [
        "ls;" * 5_000,
        "(" * 200,
        "$(" * 200,
        "sudo " * 200 + "ls",
        "eval " * 200 + "ls",
        "f0(){ f1;f1; };f1(){ f2;f2; };" + "ls;" * 5_000,
        "A='" + "ls;" * 4_000 + "';" + 'eval "$A";' * 900,
    ],
)
def test_what_is_too_deep_or_too_much_goes_to_a_person(text: str) -> None:
    rules = [found.rule for found in judge_command(text)]
    assert {"opaque-size", "opaque-syntax"} & set(rules)


def test_what_was_found_before_it_was_too_much_is_told() -> None:
    rules = [found.rule for found in judge_command("rm -rf data;" + "ls;" * 5_000)]
    assert sorted(rules) == ["delete-folder", "opaque-size"]


def test_findings_and_parts_are_told_up_to_a_number() -> None:
    assert len(judge_command("rm a;" * 500)) == MAX_FINDINGS
    assert len(split_command("ls a;" * 500)) == MAX_PARTS


def test_that_it_was_too_much_is_told_however_much_was_found() -> None:
    rules = {found.rule for found in judge_command("> a;" * 64 + "(" * 200)}
    assert "opaque-size" in rules


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every regular expression of the package, with where it stands."""
    for module in pkgutil.walk_packages(
        shell_commands.__path__, f"{shell_commands.__name__}."
    ):
        for name, value in vars(importlib.import_module(module.name)).items():
            fields: list[object] = [value]
            if isinstance(value, Language):
                fields = [getattr(value, field) for field in Language.__slots__]
            elif isinstance(value, dict):
                fields = [each for each in value.values() if not isinstance(each, str)]
                fields += [
                    part for each in fields if isinstance(each, tuple) for part in each
                ]
            for field in fields:
                if isinstance(field, re.Pattern):
                    yield f"{module.name}.{name}", field


def repeats_in_repeats(parsed: Any, *, inside: bool = False) -> bool:
    """Tell whether two endless repeats stand inside each other."""
    for operation, argument in parsed:
        repeat = operation in (parser.MAX_REPEAT, parser.MIN_REPEAT)
        endless = repeat and argument[1] == parser.MAXREPEAT
        if endless and inside:
            return True
        if any(
            repeats_in_repeats(part, inside=inside or endless)
            for part in list_parts(argument)
        ):
            return True
    return False


def list_parts(argument: Any) -> Iterator[Any]:
    for part in argument if isinstance(argument, tuple | list) else (argument,):
        for each in part if isinstance(part, list) else (part,):
            if isinstance(each, parser.SubPattern):
                yield each


# What stands for a class of characters in a text that is made to match.
LETTERS = "a1 \"'\\$;(){}[]<>/*-=.,:#@%!|&_\n\t\r`~^+?xEe"


def make_text(parsed: Any, chance: Random) -> str:
    """Make a text that most of a pattern matches, with long repeats of repeats."""
    return "".join(make_piece(operation, given, chance) for operation, given in parsed)


FITTING: dict[str, list[str]] = {}


def list_fitting(operation: Any, given: Any) -> list[str]:
    key = f"{operation} {given}"
    if key not in FITTING:
        single = parser.SubPattern(parser.State(), [(operation, given)])
        fits = compile_parsed(single).match
        FITTING[key] = [each for each in LETTERS if fits(each)] or [""]
    return FITTING[key]


def make_piece(operation: Any, given: Any, chance: Random) -> str:
    if operation is parser.LITERAL:
        return chr(given)
    if operation in (parser.NOT_LITERAL, parser.ANY, parser.IN):
        return chance.choice(list_fitting(operation, given))
    if operation is parser.BRANCH:
        return make_text(chance.choice(given[1]), chance)
    if operation in (parser.MAX_REPEAT, parser.MIN_REPEAT):
        least, most, body = given
        times = chance.choice((1, 2, 40)) if most == parser.MAXREPEAT else least
        return "".join(make_text(body, chance) for _ in range(max(times, least)))
    if operation is parser.SUBPATTERN:
        return make_text(given[-1], chance)
    return ""  # looks ahead and behind take nothing


def take_forever(pattern: re.Pattern[str]) -> str | None:
    """Find a text that a pattern does not come to an end with: where two ways lead through
    a repeat, forty rounds have more ways than can be tried."""
    parsed = parser.parse(pattern.pattern, pattern.flags)
    chance = Random(pattern.pattern)

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise Enough

    before = signal.signal(signal.SIGVTALRM, give_up)
    try:
        for _ in range(30):
            text = make_text(parsed, chance)[:2_000]
            for tried in (text + "\0", text[: chance.randint(0, len(text))] + "\0"):
                signal.setitimer(signal.ITIMER_VIRTUAL, 3)
                try:
                    pattern.search(tried)
                    pattern.match(tried)
                except Enough:
                    return tried
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return None


def test_the_check_of_patterns_tells_good_from_bad() -> None:
    assert repeats_in_repeats(parser.parse("x(?:a+|b)*y"))
    assert repeats_in_repeats(parser.parse("(a|(b*))+"))
    assert not repeats_in_repeats(parser.parse("a*b+(c*|d)"))
    assert take_forever(re.compile(r"x(?:a+|b)*y")) is not None
    assert take_forever(re.compile(r"(?:\w+\s?)+;")) is not None
    assert take_forever(re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)) is None


def test_no_repeat_of_repeats_can_be_read_in_two_ways() -> None:
    found = list(patterns())
    assert len(found) > 60
    nested = {
        pattern: name
        for name, pattern in found
        if repeats_in_repeats(parser.parse(pattern.pattern, pattern.flags))
    }
    assert len(nested) > 20
    assert [name for pattern, name in nested.items() if take_forever(pattern)] == []
