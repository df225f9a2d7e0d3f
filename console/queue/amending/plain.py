"""One field for all that may be changed: a command, a file's content, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.queue.amending.parts import AmendPart, Typed
from console.queue.amending.texts import (
    clean_typed,
    format_document,
    format_text,
    parse_document,
    parse_text,
)

NAME = "amended"


class TextEditor:
    """The text of one field of the call."""

    def __init__(self, field: str, label: str) -> None:
        self.field = field
        self.label = label

    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        text, escaped = format_text(self.field, shown[self.field])
        return (AmendPart(name=NAME, label=self.label, text=text, escaped=escaped),)

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        text = clean_typed(typed.get(NAME, ""))
        return {self.field: parse_text(self.field, shown[self.field], text)}


class ArgumentsEditor:
    """All arguments of a tool, as JSON."""

    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        label = "The arguments as they should be sent, as JSON"
        text = format_document(shown["arguments"])
        return (AmendPart(name=NAME, label=label, text=text),)

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        return {"arguments": parse_document(clean_typed(typed.get(NAME, "")))}


COMMAND = TextEditor("command", "The command as it should run")
CONTENT = TextEditor("content", "The content as it should be written")
ARGUMENTS = ArgumentsEditor()
