"""Change single values of a YAML text and leave the rest as it was typed.

Comments, order and style stay where that is possible. Where it is not, the whole document
is written anew: what it says is always exact.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import yaml

from guidance.yaml_documents import LOADER, YamlError, parse_yaml, write_yaml

Keys = tuple[str, ...]
REMOVED: Any = object()


def change_yaml(text: str, changes: Mapping[Keys, Any]) -> str:
    """The text with these values; one that is REMOVED is gone, with its key."""
    for keys, value in changes.items():
        wanted = set_value(parse_yaml(text).document, keys, value)
        edited = _change_text(text, keys, value)
        if edited is None or not _says(edited, wanted):
            edited = write_yaml(wanted)
        text = edited
    return text


def set_value(document: Any, keys: Keys, value: Any) -> dict[str, Any]:
    """A copy of the document with this value; what it stands in is made."""
    changed: dict[str, Any] = (
        copy.deepcopy(document) if isinstance(document, dict) else {}
    )
    around = changed
    for key in keys[:-1]:
        if not isinstance(around.get(key), dict):
            if value is REMOVED:
                return changed
            around[key] = {}
        around = around[key]
    if value is REMOVED:
        around.pop(keys[-1], None)
    else:
        around[keys[-1]] = value
    return changed


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        found = parse_yaml(text).document
    except YamlError:
        return False
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def _change_text(text: str, keys: Keys, value: Any) -> str | None:
    node = yaml.compose(text, Loader=LOADER)
    for depth, key in enumerate(keys):
        name, found = _find_pair(node, key)
        if name is None or found is None:
            return _insert(text, node, key, _build_nested(keys[depth + 1 :], value))
        if depth + 1 < len(keys):
            node = found
    assert name is not None
    assert found is not None
    if value is REMOVED:
        return _remove_lines(text, name, found)
    start, end = found.start_mark.index, found.end_mark.index
    kept = text[start:end]
    tail = kept[len(kept.rstrip()) :]
    return f"{text[:start]}{_write_inline(value)}{tail}{text[end:]}"


def _build_nested(keys: Keys, value: Any) -> Any:
    for key in reversed(keys):
        value = REMOVED if value is REMOVED else {key: value}
    return value


def _insert(text: str, node: yaml.Node | None, key: str, value: Any) -> str | None:
    """As the first key of what it belongs to."""
    if value is REMOVED:
        return text
    if not isinstance(node, yaml.MappingNode) or not node.value or node.flow_style:
        return None
    first = node.value[0][0].start_mark
    line = f"{_write_inline(key)}: {_write_inline(value)}\n"
    indent = " " * first.column
    return f"{text[: first.index]}{line}{indent}{text[first.index :]}"


def _find_pair(
    node: yaml.Node | None, key: str
) -> tuple[yaml.Node | None, yaml.Node | None]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(
        ((name, each) for name, each in pairs if name.value == key), (None, None)
    )


def _remove_lines(text: str, name: yaml.Node, found: yaml.Node) -> str | None:
    """Only where nothing else stands on its lines."""
    lines = text.splitlines(keepends=True)
    first, last = name.start_mark.line, found.end_mark.line
    if found.end_mark.column == 0 or last >= len(lines):
        last -= 1
    if lines[first][: name.start_mark.column].strip():
        return None
    return "".join([*lines[:first], *lines[last + 1 :]])


def _write_inline(value: Any) -> str:
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, width=10**6, sort_keys=False
    )
    return text.strip().removesuffix("...").strip()
