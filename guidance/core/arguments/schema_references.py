"""The places in a JSON Schema that its references lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from guidance.core.regex import measure_pattern

Keys = tuple[str | int, ...]
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ENCODED = re.compile("(?:%[0-9A-Fa-f]{2})+")


class References:
    """An index of a document, made once. An anchor or an address that stands in several
    places leads to all of them: which one is meant may depend on the way there."""

    def __init__(self, document: Any) -> None:
        self.schemas: dict[Keys, Mapping[str, Any]] = {}
        self._document = document
        self._patterns: set[str] = set()
        # By the last part of their address, so that no address has to be resolved.
        self._resources: dict[str, list[Keys]] = {}
        self._anchors: dict[str, list[Keys]] = {}
        self._within: dict[Keys, Keys] = {}
        waiting: list[tuple[Any, Keys, Keys]] = [(document, (), ())]
        while waiting:
            value, keys, within = waiting.pop()
            parts: Iterable[tuple[str | int, Any]] = ()
            if isinstance(value, Mapping):
                within = self._enter(value, keys, within)
                parts = value.items()
            elif isinstance(value, list):
                parts = enumerate(value)
            waiting += [(part, (*keys, key), within) for key, part in parts]

    def _enter(self, schema: Mapping[str, Any], keys: Keys, within: Keys) -> Keys:
        if isinstance(schema.get("$id"), str):
            within = keys
            name = _get_last_part(schema["$id"].partition("#")[0])
            self._resources.setdefault(name, []).append(keys)
        self.schemas[keys] = schema
        self._within[keys] = within
        if isinstance(schema.get("pattern"), str):
            self._patterns.add(schema["pattern"])
        if isinstance(schema.get("patternProperties"), Mapping):
            self._patterns.update(schema["patternProperties"])
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors.setdefault(schema[keyword], []).append(keys)
        return within

    def measure_patterns(self, *, most: int) -> int:
        """Add up the sizes of all patterns, and stop as soon as there are more than that."""
        total = 0
        for pattern in sorted(self._patterns, key=len):
            total += measure_pattern(pattern)
            if total > most:
                break
        return total

    def list_targets(self, keys: Keys) -> Iterator[Keys]:
        """List where the references of a schema lead; LookupError tells of one that leads
        out of the document."""
        for keyword in _REFERENCES:
            reference = self.schemas[keys].get(keyword)
            if isinstance(reference, str):
                targets = list(self._find_all(keys, reference))
                if not targets:
                    where = build_pointer(keys) or "its top"
                    raise LookupError(
                        f"at {where} {reference} does not lead to a place in it"
                    )
                yield from targets

    def _find_all(self, keys: Keys, reference: str) -> Iterator[Keys]:
        address, _, fragment = reference.partition("#")
        fragment = _ENCODED.sub(_decode, fragment)
        if fragment and not fragment.startswith("/"):
            yield from self._anchors.get(fragment, ())
            return
        starts = [self._within[keys]]
        if address:
            starts = self._resources.get(_get_last_part(address), [])
        for start in starts:
            target = self._follow(start, fragment)
            if target is not None:
                yield target

    def _follow(self, start: Keys, pointer: str) -> Keys | None:
        value: Any = self.schemas.get(start, self._document)
        keys = start
        for part in pointer.split("/")[1:]:
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list):
                key = int(part) if part.isdecimal() and len(part) < 9 else -1
                if not 0 <= key < len(value):
                    return None
            elif not isinstance(value, Mapping) or key not in value:
                return None
            value = value[key]
            keys = (*keys, key)
        return keys


def _get_last_part(address: str) -> str:
    return address.rpartition("/")[2]


def _decode(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")


def build_pointer(keys: Keys | list[str | int]) -> str:
    """Write keys as RFC 6901 does."""
    parts = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    return "".join("/" + part for part in parts)
