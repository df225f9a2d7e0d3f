"""The box in which a person changes a call, and what they wrote in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import Invalid
from guidance.core.arguments import ArgumentProblem, read_arguments
from safetext import build_warnings
from safetext.characters import find_invisible_runs

# More than anybody edits in a box, and less than a form may carry.
LIMIT = 100_000

_FIELDS = {"command": "command", "edit": "content"}
_LABELS = {
    "command": "The command as it should run",
    "edit": "The content as it should be written",
    "tool": "The arguments as they should be sent, as JSON",
}


class NothingChanged(Invalid):
    """What stands in the box is the call as it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendBox:
    """`text` is what stands in it at first; `why_not` says why there is no box."""

    label: str = ""
    text: str = ""
    escaped: bool = False
    warnings: tuple[str, ...] = ()
    why_not: str = ""


def build_amend_box(content: Mapping[str, Any]) -> AmendBox:
    call_kind = content["call_kind"]
    document = _get_document(content)
    if document is None:
        return AmendBox(
            why_not="Several edits at once cannot be changed here: deny them, and say "
            "what to change."
        )
    plain = _get_plain_text(call_kind, document)
    text = _format_document(document) if plain is None else plain
    if len(text) > LIMIT:
        return AmendBox(
            why_not="It is too long to be changed here: deny it, and say what to change."
        )
    return AmendBox(
        label=_LABELS[call_kind],
        text=text,
        escaped=plain is None and call_kind in _FIELDS,
        # A look-alike letter looks in the box as it does everywhere.
        warnings=build_warnings(text),
    )


def parse_amendment(content: Mapping[str, Any], typed: str) -> dict[str, Any]:
    """What is to run instead, as the ruling takes it."""
    call_kind, document = content["call_kind"], _get_document(content)
    if document is None:
        raise Invalid(build_amend_box(content).why_not)
    # A browser sends every line end as CRLF.
    typed = typed.replace("\r\n", "\n")
    if len(typed) > LIMIT:
        raise Invalid(f"The text is too long: at most {LIMIT:,} characters.")
    if "\x00" in typed:
        raise Invalid("The text holds a character that cannot be stored.")
    if _get_plain_text(call_kind, document) is None:
        changed = _parse_document(typed, only=_FIELDS.get(call_kind))
    else:
        field = _FIELDS[call_kind]
        crlf = _has_only_crlf(document[field])
        changed = {field: typed.replace("\n", "\r\n") if crlf else typed}
    if changed == document:
        raise NothingChanged("Nothing is changed: change it, or approve it as it is.")
    return changed if call_kind in _FIELDS else {"arguments": changed}


def _get_document(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """What may be changed of a call; None where nothing may."""
    call_kind, shown = content["call_kind"], content["shown"]
    if call_kind in _FIELDS:
        return {_FIELDS[call_kind]: shown[_FIELDS[call_kind]]}
    if call_kind == "tool" and "arguments" in shown:
        return dict(shown["arguments"])
    return None


def _get_plain_text(call_kind: str, document: Mapping[str, Any]) -> str | None:
    """The text itself, where a text box shows and keeps every character of it."""
    if call_kind not in _FIELDS:
        return None
    text: str = document[_FIELDS[call_kind]]
    if _has_only_crlf(text):
        text = text.replace("\r\n", "\n")
    return None if any(find_invisible_runs(text)) else text


def _has_only_crlf(text: str) -> bool:
    ends = text.count("\r\n")
    return ends > 0 and ends == text.count("\r") == text.count("\n")


def _format_document(document: Mapping[str, Any]) -> str:
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


def _parse_document(typed: str, *, only: str | None) -> dict[str, Any]:
    read = read_arguments(typed)
    if isinstance(read, ArgumentProblem):
        raise Invalid(
            f"This is no JSON yet: {read.message} "
            f"(line {read.line}, column {read.column}). Your text is kept."
        )
    values = dict(read.values)
    if only is not None and ({*values} != {only} or not isinstance(values[only], str)):
        raise Invalid(f"Only the text of {only} can be changed. Your text is kept.")
    return values
