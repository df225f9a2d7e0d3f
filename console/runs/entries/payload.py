"""A payload as people read it: indented, coloured, and with nothing in it invisible."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from safetext import make_visible

# Of one text, and of all of them together. The export has the rest.
TEXT_LIMIT = 4_000
WHOLE_LIMIT = 60_000


def render_payload(payload: Any) -> tuple[SafeString, bool]:
    """And whether something was left out."""
    parts: list[str] = []
    length, cut = 0, False
    for part, was_cut in _list_parts(payload, indent=0):
        parts.append(part)
        length += len(part)
        cut = cut or was_cut
        if length > WHOLE_LIMIT:
            parts.append(" …")
            cut = True
            break
    return mark_safe("".join(parts)), cut  # noqa: S308 (each part is escaped)


def _list_parts(value: Any, *, indent: int) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict) and value:
        yield "{", False
        yield from _list_items(value.items(), indent=indent + 1)
        yield f"\n{'  ' * indent}}}", False
    elif isinstance(value, list) and value:
        yield "[", False
        yield from _list_items(((None, each) for each in value), indent=indent + 1)
        yield f"\n{'  ' * indent}]", False
    elif isinstance(value, str):
        yield _render_text(value, "s")
    else:
        yield format_html("<u>{}</u>", json.dumps(value)), False


def _list_items(items: Any, *, indent: int) -> Iterator[tuple[str, bool]]:
    comma = ""
    for name, value in items:
        yield f"{comma}\n{'  ' * indent}", False
        if name is not None:
            yield _render_text(name, "i")
            yield ": ", False
        yield from _list_parts(value, indent=indent)
        comma = ","


def _render_text(text: str, tag: str) -> tuple[str, bool]:
    """Cut before it is made visible: one hidden character becomes nine."""
    cut = len(text) > TEXT_LIMIT
    shown = json.dumps(make_visible(text[:TEXT_LIMIT]), ensure_ascii=False)
    if cut:
        shown += f" … {len(text) - TEXT_LIMIT:,} more characters"
    return format_html(f"<{tag}>{{}}</{tag}>", shown), cut
