"""Changes between two policy documents: in words, and as text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from console.format import format_count
from guidance.core.policy.differences import Difference, list_differences
from guidance.core.policy.effects import describe_effect
from guidance.core.policy.meaning import describe_difference, is_only_wording
from guidance.core.policy.setting_order import order_settings
from guidance.yaml_documents import write_yaml
from safetext import ShownDiff, make_visible_line, show_diff

Document = Mapping[str, Any]

TONES = {"pause": "pause", "stop": "stop", "throttle": "slow", "continue": "go"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """`effect` says which way it goes, `tone` the same in colour; `undo` is what the
    editor's button sends to take it back, empty where there are several."""

    path: str
    undo: str
    effect: str
    tone: str
    meaning: str


def list_changes(before: Document, after: Document) -> tuple[ShownChange, ...]:
    return build_changes(list_differences(before, after))


def build_changes(differences: Iterable[Difference]) -> tuple[ShownChange, ...]:
    """One by one; where several are only written differently, those as one at the end."""
    found = list(differences)
    wording = [each for each in found if is_only_wording(each)]
    if len(wording) < 2:
        return tuple(map(_build_change, found))
    changes = [_build_change(each) for each in found if each not in wording]
    return (*changes, _build_wording(len(wording)))


def _build_wording(count: int) -> ShownChange:
    return ShownChange(
        path="",
        undo="",
        effect="Same",
        tone="line",
        meaning=f"{count} defaults are written out, or no longer: their values stay",
    )


def _build_change(difference: Difference) -> ShownChange:
    effect = describe_effect(difference)
    return ShownChange(
        path=make_visible_line(difference.path),
        undo=f"undo:{difference.path}",
        effect=effect.words,
        tone=TONES.get(effect.decision, "line"),
        meaning=make_visible_line(describe_difference(difference)),
    )


def describe_changes(changes: tuple[ShownChange, ...]) -> str:
    """One change in full, several as their number."""
    return changes[0].meaning if len(changes) == 1 else describe_count(changes)


def describe_count(changes: tuple[ShownChange, ...]) -> str:
    return format_count(len(changes), "change") if changes else "no changes"


def write_policy(document: Document) -> str:
    """As a person would write it."""
    return write_yaml(order_settings(document))


def build_text_diff(before: Document, after: Document, *, name: str) -> ShownDiff:
    file = f"{name}.yaml"
    lines = difflib.unified_diff(
        write_policy(before).splitlines(keepends=True),
        write_policy(after).splitlines(keepends=True),
        fromfile=file,
        tofile=file,
    )
    return show_diff("".join(lines), file_name=file)
