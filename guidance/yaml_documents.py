"""Policy documents as YAML: read with the place of every value, and written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

DEPTH_LIMIT = 32
# Keys and values: a policy for hundreds of tools has some thousands.
VALUE_LIMIT = 30_000
# The C library reads a hundred times faster.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Place = tuple[int, int]
Keys = tuple[str | int, ...]
_TAG = "tag:yaml.org,2002:"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# Letters, marks and symbols that leave no ink.
_INKLESS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u2d7f\u3164\uffa0\ufffc"
    "\U0001107f\U00016fe4\U0001d159"
)
_SCALARS: Mapping[str, Callable[[SafeConstructor, Any], Any]] = {
    f"{_TAG}null": SafeConstructor.construct_yaml_null,
    f"{_TAG}bool": SafeConstructor.construct_yaml_bool,
    f"{_TAG}int": SafeConstructor.construct_yaml_int,
    f"{_TAG}float": SafeConstructor.construct_yaml_float,
    f"{_TAG}str": SafeConstructor.construct_yaml_str,
    f"{_TAG}timestamp": SafeConstructor.construct_yaml_str,
}


class YamlError(ValueError):
    """A text that is no document, with the line and column of the fault."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """The values of a text; `places` are line and column of each, by the keys to it."""

    document: Any
    places: Mapping[Keys, Place]

    def find_place(self, keys: Keys) -> Place:
        """Find the value or, where nothing stands, what it would stand in."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places.get(keys, (1, 1))


def parse_yaml(text: str) -> YamlDocument:
    """Raises YamlError for whatever is not one document of plain values."""
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=LOADER)
        if node is None:
            return YamlDocument(document={}, places={(): (1, 1)})
        places = dict(_walk(node, ()))
        document = _build(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or "not YAML", _get_place(mark)) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise YamlError(str(error).splitlines()[0], (1, 1)) from None
    return YamlDocument(document=document, places=places)


def _check_events(text: str) -> None:
    """Refuse what could grow, before anything is built."""
    depth = values = 0
    for event in yaml.parse(text, Loader=LOADER):
        values += isinstance(event, yaml.NodeEvent)
        if values > VALUE_LIMIT:
            place = _get_place(event.start_mark)
            raise YamlError(f"more than {VALUE_LIMIT:,} keys and values", place)
        if isinstance(event, yaml.AliasEvent):
            place = _get_place(event.start_mark)
            raise YamlError("anchors and aliases are not taken", place)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_LIMIT:
            place = _get_place(event.start_mark)
            raise YamlError(f"more than {DEPTH_LIMIT} levels", place)


def write_yaml(document: Mapping[str, Any]) -> str:
    """In the order of the document, as a person would write it."""
    text: str = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=88,
        indent=2,
    )
    return _NOT_ASCII.sub(_escape, text)


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as such, and one with characters that are not seen in
    double quotes, where they can be escaped."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    if any(map(_is_unseen, _NOT_ASCII.findall(text))):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_unseen(sign: str) -> bool:
    """As `safetext` has it, which stands above."""
    return (
        not sign.isprintable()
        or sign in _INKLESS
        or unicodedata.name(sign, "").find("VARIATION SELECTOR") >= 0
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if not _is_unseen(found[0]):
        return found[0]
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_Dumper.add_representer(str, _represent_text)


def _build(node: yaml.Node) -> Any:
    """Keys are texts as they stand, and so is a date: JSON has none."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _build(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_build(item) for item in node.value]
    read = _SCALARS.get(node.tag)
    place = _get_place(node.start_mark)
    if read is None:
        raise YamlError(f"the tag {node.tag} is not taken", place)
    try:
        return read(SafeConstructor(), node)
    except ValueError:
        raise YamlError(f"{node.value[:40]} is no value", place) from None


def _walk(node: yaml.Node, keys: Keys) -> Iterator[tuple[Keys, Place]]:
    yield keys, _get_place(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _walk(item, (*keys, number))
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                place = _get_place(key.start_mark)
                raise YamlError("a key has to be a text", place)
            if key.value in seen:
                place = _get_place(key.start_mark)
                raise YamlError(f"the key {key.value} stands twice", place)
            seen.add(key.value)
            below = (*keys, key.value)
            yield from _walk(value, below)
            # People look for the setting by its name.
            yield below, _get_place(key.start_mark)


def _get_place(mark: Any) -> Place:
    """The C library has marks of its own."""
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
