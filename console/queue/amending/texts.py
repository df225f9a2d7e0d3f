"""Texts as a field shows them, and as they are read again: no character is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from common.errors import Invalid
from guidance.core.arguments import ArgumentProblem, read_arguments
from safetext.characters import find_invisible_runs

# More than anybody edits in a box, and less than a form may carry.
LIMIT = 100_000


class NothingChanged(Invalid):
    """What stands in the fields is the call as it was asked for."""


def clean_typed(typed: str) -> str:
    # A browser sends every line end as CRLF.
    typed = typed.replace("\r\n", "\n")
    if len(typed) > LIMIT:
        raise Invalid(f"The text is too long: at most {LIMIT:,} characters.")
    if "\x00" in typed:
        raise Invalid("The text holds a character that cannot be stored.")
    return typed


def format_text(name: str, text: str) -> tuple[str, bool]:
    """The text itself, where a field shows and keeps every character of it; else the text
    by its name as JSON, and True."""
    plain = text.replace("\r\n", "\n") if _has_only_crlf(text) else text
    if any(find_invisible_runs(plain)):
        return format_document({name: text}), True
    return plain, False


def parse_text(name: str, before: str, typed: str) -> str:
    """What was typed where `format_text` has shown the text before."""
    if format_text(name, before)[1]:
        values = parse_document(typed)
        text = values.get(name)
        if {*values} != {name} or not isinstance(text, str):
            raise Invalid(f"Only the text of {name} can be changed. Your text is kept.")
        return text
    return typed.replace("\n", "\r\n") if _has_only_crlf(before) else typed


def format_document(document: Mapping[str, Any]) -> str:
    """As JSON, in which characters that nobody sees are written out."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if len(text) > LIMIT:
        return text  # too long for the box as it is, and longer with every escape
    parts: list[str] = []
    done = 0
    for start, end, _ in find_invisible_runs(text):
        parts += (text[done:start], json.dumps(text[start])[1:-1] * (end - start))
        done = end
    return "".join(parts) + text[done:]


def parse_document(typed: str) -> dict[str, Any]:
    read = read_arguments(typed)
    if isinstance(read, ArgumentProblem):
        raise Invalid(
            f"This is no JSON yet: {read.message} "
            f"(line {read.line}, column {read.column}). Your text is kept."
        )
    return dict(read.values)


def _has_only_crlf(text: str) -> bool:
    ends = text.count("\r\n")
    return ends > 0 and ends == text.count("\r") == text.count("\n")
