"""What a person changed of a call, part by part, against what was asked for."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.queue.amending.box import find_editor
from guidance.core.canonical import to_canonical_json
from safetext import ShownDiff, show_diff

# Longer texts are compared by no key press: the whole change is shown all the same.
DIFF_LIMIT = 20_000
_CONTEXT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """`title` says which part it is; empty where the call has only one."""

    title: str
    diff: ShownDiff


def build_changes(
    content: Mapping[str, Any], shown: Mapping[str, Any]
) -> tuple[ShownChange, ...]:
    """The parts that differ; none where the texts are too long to be compared."""
    # Both as they are stored, so that the order of keys makes no difference.
    after = json.loads(to_canonical_json(shown))
    before = json.loads(to_canonical_json(content["shown"]))
    pairs = list(_list_pairs(content, before, after))
    if sum(len(one) + len(other) for _, one, other in pairs) > 2 * DIFF_LIMIT:
        return ()
    return tuple(
        ShownChange(title=title if len(pairs) > 1 else "", diff=_compare(one, other))
        for title, one, other in pairs
        if one != other
    )


def _list_pairs(
    content: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Each part before and after; what was left out is empty after."""
    editor = find_editor(content)
    if editor is not find_editor({**content, "shown": after}):
        editor = find_editor(content, whole=True)
    if editor is None:
        return
    left = editor.list_parts(after)
    for part in editor.list_parts(before):
        same = [number for number, each in enumerate(left) if each.key == part.key]
        found = left[same[0]] if same else None
        left = left[same[0] + 1 :] if same else left
        yield part.title or part.label, part.text, found.text if found else ""
    for part in left:
        yield part.title or part.label, "", part.text


def _compare(before: str, after: str) -> ShownDiff:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm=""
    )
    return show_diff("\n".join([*lines][2:]) + "\n")
