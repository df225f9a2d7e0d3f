"""Several edits of one file: each has a field for what it puts in, and can be left out.

What an edit looks for stays: where it stands was judged on a text that is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from common.errors import Invalid
from console.queue.amending.parts import AmendPart, PartReader, Typed
from console.queue.amending.texts import format_text, parse_text


class EditsEditor:
    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        edits = shown["edits"]
        return tuple(
            _build_part(number, edit, of=len(edits))
            for number, edit in enumerate(edits, start=1)
        )

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        reader = PartReader(typed)
        changed: list[dict[str, Any]] = []
        for edit, part in zip(shown["edits"], self.list_parts(shown), strict=True):
            if reader.is_left_out(part):
                continue
            new = reader.read(part, partial(parse_text, "new", edit["new"]))
            changed.append({**edit, "new": new})
        reader.refuse_problems()
        if not changed:
            raise Invalid("Nothing would be left to do: deny it instead.")
        return {"edits": changed}


def _build_part(number: int, edit: Mapping[str, Any], *, of: int) -> AmendPart:
    text, escaped = format_text("new", edit["new"])
    places = " in every place" if edit["replace_all"] else ""
    return AmendPart(
        name=f"amended-{number}",
        title=f"Edit {number} of {of}",
        label=f"What it puts in{places}",
        text=text,
        escaped=escaped,
        key=(edit["old"], edit["replace_all"]),
        old=edit["old"],
        leave=f"leave-{number}" if of > 1 else "",
    )


EDITS = EditsEditor()
