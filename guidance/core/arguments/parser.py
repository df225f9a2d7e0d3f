"""Raw JSON arguments, read strictly: one object, one meaning.

Refused with line and column: what is not JSON, duplicate keys, NaN and infinity, numbers
out of range, NUL and lone surrogates, deep nesting and floods of values. A text that
breaks off is told apart from one that is merely wrong, and never completed.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from guidance.core.arguments.argument import ArgumentProblem, Arguments, Repair
from guidance.core.arguments.lenient_parser import Broken, read_leniently
from guidance.core.arguments.positions import breaks_off, first_refusal, place
from guidance.core.strict_json import (
    TOO_MANY,
    Refused,
    check_size,
    decimal,
    integer,
    is_flood,
)


def read_arguments(text: str, *, lenient: bool = False) -> Arguments | ArgumentProblem:
    """The arguments in the text, or the first thing that is wrong with it."""
    if not text.strip():
        return _problem(
            text, 0, "the arguments are empty: send {} where there are none"
        )
    if is_flood(text):
        return _problem(text, 0, TOO_MANY)
    try:
        document = _decoder.decode(text)
        check_size(document)
    except json.JSONDecodeError as error:
        truncated = breaks_off(text)
        if truncated or not lenient:
            return _not_json(text, error, truncated=truncated)
        return _repaired(text)
    except (RecursionError, Refused) as error:
        at, message = first_refusal(text)
        truncated = breaks_off(text)
        return _problem(text, at, message or str(error), truncated=truncated)
    if lenient and isinstance(document, str):
        return _unwrapped(text, document)
    return _object(text, document, ())


def _problem(
    text: str, at: int, message: str, *, truncated: bool = False
) -> ArgumentProblem:
    line, column = place(text, at)
    return ArgumentProblem(
        line=line, column=column, message=message, truncated=truncated
    )


def _not_json(
    text: str, error: json.JSONDecodeError, *, truncated: bool
) -> ArgumentProblem:
    if truncated:
        return _problem(
            text,
            len(text),
            f"the text breaks off ({_lowered(error.msg)} at line {error.lineno}, "
            f"column {error.colno}); send it whole",
            truncated=True,
        )
    return _problem(text, error.pos, f"not JSON: {_lowered(error.msg)}")


def _lowered(message: str) -> str:
    return (message[:1].lower() + message[1:]).removesuffix(" at")


def _repaired(text: str) -> Arguments | ArgumentProblem:
    try:
        document, repairs = read_leniently(text)
        check_size(document)
    except Broken as broken:
        return _problem(text, broken.at, broken.message, truncated=broken.truncated)
    except Refused as refused:
        return _problem(text, 0, str(refused))
    return _object(text, document, repairs)


def _unwrapped(text: str, inner: str) -> Arguments | ArgumentProblem:
    """Arguments that were written as JSON twice."""
    read = read_arguments(inner)
    if isinstance(read, ArgumentProblem):
        message = f"the arguments are a string, and in it: {read.message}"
        return _problem(text, 0, message, truncated=read.truncated)
    repair = Repair(line=1, column=1, what="the object was written as a string")
    return Arguments(values=read.values, repairs=(repair,))


def _object(
    text: str, document: Any, repairs: tuple[Repair, ...]
) -> Arguments | ArgumentProblem:
    """null stands for no arguments, as some clients send it."""
    if document is None:
        return Arguments(values={}, repairs=repairs)
    if not isinstance(document, dict):
        at = len(text) - len(text.lstrip())
        return _problem(text, at, "the arguments must be one object")
    return Arguments(values=document, repairs=repairs)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Refused("a key stands twice in one object")
    return result


def _constant(name: str) -> NoReturn:
    raise Refused("NaN and infinity are not JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=integer,
    parse_float=decimal,
    parse_constant=_constant,
)
