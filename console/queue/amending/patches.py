"""A patch of several files: each has a field for its lines, and can be left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from common.errors import Invalid
from console.queue.amending.parts import AmendPart, PartReader, Typed
from console.queue.amending.texts import format_text, parse_text
from guidance.core.edits.patches import (
    FilePatch,
    find_line_problem,
    join_patch,
    split_patch,
)
from safetext import make_visible_line

_VERBS = {"Add": "New file", "Update": "Changes in", "Delete": "Deletes"}


def is_file_patch(shown: Mapping[str, Any]) -> bool:
    return split_patch(shown["content"]) is not None


class PatchEditor:
    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        files = _split(shown)
        return tuple(
            _build_part(number, each, of=len(files))
            for number, each in enumerate(files, start=1)
        )

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        reader = PartReader(typed)
        changed: list[FilePatch] = []
        for each, part in zip(_split(shown), self.list_parts(shown), strict=True):
            if reader.is_left_out(part):
                continue
            if not part.has_text:
                changed.append(each)
                continue
            lines = reader.read(part, partial(_parse_lines, each), missing="")
            changed.append(replace(each, lines=lines))
        reader.refuse_problems()
        if not changed:
            raise Invalid("Nothing would be left to do: deny it instead.")
        whole = join_patch(changed)
        ended = shown["content"].endswith("\n")
        return {"content": whole if ended else whole.removesuffix("\n")}


def _split(shown: Mapping[str, Any]) -> tuple[FilePatch, ...]:
    return split_patch(shown["content"]) or ()


def _build_part(number: int, each: FilePatch, *, of: int) -> AmendPart:
    text, escaped = format_text("lines", each.lines)
    return AmendPart(
        name=f"amended-{number}",
        title=f"{_VERBS[each.verb]} {make_visible_line(each.path)}",
        label="Its lines",
        text=text if each.verb != "Delete" else each.header,
        escaped=escaped,
        key=each.header,
        leave=f"leave-{number}" if of > 1 else "",
        has_text=each.verb != "Delete",
    )


def _parse_lines(each: FilePatch, typed: str) -> str:
    lines = parse_text("lines", each.lines, typed)
    lines = f"{lines}\n" if lines and not lines.endswith("\n") else lines
    problem = find_line_problem(each.verb, lines)
    if problem is not None:
        raise Invalid(f"{problem[:1].upper()}{problem[1:]}. Your text is kept.")
    return lines


PATCH = PatchEditor()
