"""The box in which a person changes a call, and what they wrote in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import Invalid
from console.queue.amending import edits, patches, plain, requests
from console.queue.amending.parts import AmendPart, Editor, Typed
from console.queue.amending.texts import LIMIT, NothingChanged
from guidance.core.canonical import to_canonical_json

# More fields than anybody fills in, and fewer than a form may carry.
PARTS_LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendBox:
    """`parts` are its fields; `why_not` says why there are none."""

    parts: tuple[AmendPart, ...] = ()
    why_not: str = ""


def build_amend_box(content: Mapping[str, Any]) -> AmendBox:
    editor = find_editor(content)
    if editor is None:
        return AmendBox(
            why_not="What was written cannot be read: deny it, and say what to change."
        )
    parts = editor.list_parts(content["shown"])
    if len(parts) > PARTS_LIMIT or sum(part.size for part in parts) > LIMIT:
        return AmendBox(
            why_not="It is too long to be changed here: deny it, and say what to change."
        )
    return AmendBox(parts=parts)


def find_editor(content: Mapping[str, Any], *, whole: bool = False) -> Editor | None:
    """How this call is changed, `whole` in one field; None where it cannot be."""
    shown = content["shown"]
    match content["call_kind"]:
        case "command":
            return plain.COMMAND
        case "edit":
            in_files = not whole and patches.is_file_patch(shown)
            return patches.PATCH if in_files else plain.CONTENT
        case "multi_edit":
            return edits.EDITS
        case "tool" if "arguments" in shown:
            in_fields = not whole and requests.is_request(shown)
            return requests.REQUEST if in_fields else plain.ARGUMENTS
        case _:
            return None


def parse_amendment(content: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
    """What is to run instead, as the ruling takes it."""
    editor, shown = find_editor(content), content["shown"]
    if editor is None:
        raise Invalid(build_amend_box(content).why_not)
    changed = editor.parse(shown, typed)
    if to_canonical_json({**shown, **changed}) == to_canonical_json(shown):
        raise NothingChanged("Nothing is changed: change it, or approve it as it is.")
    return changed
