"""One kind of loop of a policy document, read strictly."""

from __future__ import annotations

import re

from guidance.core.arguments import (
    PatternRefused,
    Schema,
    SchemaRefused,
    compile_pattern,
)
from guidance.core.document_reader import Section
from guidance.core.loop.kinds import Harm, LoopKind
from guidance.core.regex import PATTERN_LIMIT
from guidance.core.settings import Words

_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_NAME_LIMIT = 64
_TEXT_LIMIT = 500
_ANYTHING = {"type": "object"}
KIND_WORDS = {
    "*.name": Words("Name", "Small letters and digits: nightly-tests."),
    "*.description": Words("Description", "What the loop does."),
    "*.parameters": Words("Parameters", "Their JSON Schema."),
    "*.destructive": Words(
        "Destructive",
        "Whether a person is asked first: always, never, or where a parameter fits a "
        "pattern.",
    ),
    "*.destructive.*.parameter": Words("Parameter", "Its name."),
    "*.destructive.*.pattern": Words("Pattern", "A regular expression (RE2)."),
}


def read_kind(section: Section) -> LoopKind | None:
    """None where it cannot be used; why is noted."""
    name = section.read_text("name", most=_NAME_LIMIT, pattern=_NAME.pattern)
    if section.is_valid("name") and not _NAME.fullmatch(name):
        section.refuse(
            "name", "must be small letters and digits, such as nightly-tests"
        )
    description = section.read_text("description", most=_TEXT_LIMIT, default="")
    document = section.read_free("parameters") or _ANYTHING
    destructive = _read_destructive(section)
    schema = None
    try:
        schema = Schema(document)
    except SchemaRefused as refused:
        section.refuse("parameters", str(refused))
    section.close()
    if schema is None or not section.is_valid("name"):
        return None
    return LoopKind(
        name=name,
        description=description,
        parameters=document,
        destructive=destructive,
        schema=schema,
    )


def _read_destructive(section: Section) -> bool | tuple[Harm, ...]:
    """Left out it is true: nobody said that it does no harm."""
    given = section.read_flag_or_parts("destructive", default=True)
    if isinstance(given, bool):
        return given
    return tuple(filter(None, map(_read_harm, given)))


def _read_harm(section: Section) -> Harm | None:
    parameter = section.read_text("parameter", most=_NAME_LIMIT)
    text = section.read_text("pattern", most=PATTERN_LIMIT)
    section.close()
    try:
        pattern = compile_pattern(text)
    except PatternRefused as refused:
        if section.is_valid("pattern"):
            section.refuse("pattern", str(refused))
        return None
    return Harm(parameter=parameter, text=text, pattern=pattern)
