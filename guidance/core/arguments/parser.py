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
from guidance.core.arguments.positions import find_refusal, is_cut_off, locate
from guidance.core.strict_json import (
    TOO_MANY,
    JsonRefused,
    check_size,
    is_flood,
    parse_decimal,
    parse_integer,
)


def read_arguments(text: str, *, lenient: bool = False) -> Arguments | ArgumentProblem:
    """The arguments in the text, or the first thing that is wrong with it."""
    if not text.strip():
        return _make_problem(
            text, 0, "the arguments are empty: send {} where there are none"
        )
    if is_flood(text):
        return _make_problem(text, 0, TOO_MANY)
    try:
        document = _decoder.decode(text)
        check_size(document)
    except json.JSONDecodeError as error:
        truncated = is_cut_off(text)
        if truncated or not lenient:
            return _describe_syntax_error(text, error, truncated=truncated)
        return _repair(text)
    except (RecursionError, JsonRefused) as error:
        at, message = find_refusal(text)
        truncated = is_cut_off(text)
        return _make_problem(text, at, message or str(error), truncated=truncated)
    if lenient and isinstance(document, str):
        return _read_twice_encoded(text, document)
    return _require_object(text, document, ())


def _make_problem(
    text: str, at: int, message: str, *, truncated: bool = False
) -> ArgumentProblem:
    line, column = locate(text, at)
    return ArgumentProblem(
        line=line, column=column, message=message, truncated=truncated
    )


def _describe_syntax_error(
    text: str, error: json.JSONDecodeError, *, truncated: bool
) -> ArgumentProblem:
    error = _describe_as_before(text, error)
    if truncated:
        return _make_problem(
            text,
            len(text),
            f"the text breaks off ({_lower_first_letter(error.msg)} at line {error.lineno}, "
            f"column {error.colno}); send it whole",
            truncated=True,
        )
    return _make_problem(text, error.pos, f"not JSON: {_lower_first_letter(error.msg)}")


def _describe_as_before(text: str, error: json.JSONDecodeError) -> json.JSONDecodeError:
    """In the words and at the place of Python 3.11: newer ones name a last comma. What is told
    of a call is kept, and must not depend on the Python that reads it again."""
    if not error.msg.startswith("Illegal trailing comma"):
        return error
    closing = len(text) - len(text[error.pos + 1 :].lstrip(" \t\n\r"))
    expected = (
        "Expecting property name enclosed in double quotes"
        if text[closing] == "}"
        else "Expecting value"
    )
    return json.JSONDecodeError(expected, text, closing)


def _lower_first_letter(message: str) -> str:
    return (message[:1].lower() + message[1:]).removesuffix(" at")


def _repair(text: str) -> Arguments | ArgumentProblem:
    try:
        document, repairs = read_leniently(text)
        check_size(document)
    except Broken as broken:
        return _make_problem(
            text, broken.at, broken.message, truncated=broken.truncated
        )
    except JsonRefused as refused:
        return _make_problem(text, 0, str(refused))
    return _require_object(text, document, repairs)


def _read_twice_encoded(text: str, inner: str) -> Arguments | ArgumentProblem:
    """Arguments that were written as JSON twice."""
    read = read_arguments(inner)
    if isinstance(read, ArgumentProblem):
        message = f"the arguments are a string, and in it: {read.message}"
        return _make_problem(text, 0, message, truncated=read.truncated)
    repair = Repair(line=1, column=1, what="the object was written as a string")
    return Arguments(values=read.values, repairs=(repair,))


def _require_object(
    text: str, document: Any, repairs: tuple[Repair, ...]
) -> Arguments | ArgumentProblem:
    """null stands for no arguments, as some clients send it."""
    if document is None:
        return Arguments(values={}, repairs=repairs)
    if not isinstance(document, dict):
        at = len(text) - len(text.lstrip())
        return _make_problem(text, at, "the arguments must be one object")
    return Arguments(values=document, repairs=repairs)


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JsonRefused("duplicate-key", "a key stands twice in one object")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise JsonRefused("constant", "NaN and infinity are not JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_build_object,
    parse_int=parse_integer,
    parse_float=parse_decimal,
    parse_constant=_refuse_constant,
)
