"""The places in a JSON Schema that its references lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

Keys = tuple[str | int, ...]
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class References:
    """An index of a document, made once. An anchor that stands in several places leads
    to all of them: which one is meant may depend on the way there."""

    def __init__(self, document: Any) -> None:
        self.places: dict[int, Keys] = {}
        self._resources: dict[str, Any] = {"": document}
        self._anchors: dict[str, list[Any]] = {}
        self._bases: dict[int, str] = {}
        waiting: list[tuple[Any, Keys, str]] = [(document, (), "")]
        while waiting:
            value, keys, base = waiting.pop()
            parts: Iterable[tuple[str | int, Any]] = ()
            if isinstance(value, Mapping):
                self.places[id(value)] = keys
                base = self._enter(value, base)
                parts = value.items()
            elif isinstance(value, list):
                parts = enumerate(value)
            waiting += [(part, (*keys, key), base) for key, part in parts]

    def _enter(self, schema: Mapping[str, Any], base: str) -> str:
        if isinstance(schema.get("$id"), str):
            with suppress(ValueError):  # no address: nothing can refer to it
                base = urldefrag(urljoin(base, schema["$id"])).url
            self._resources.setdefault(base, schema)
        self._bases[id(schema)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors.setdefault(schema[keyword], []).append(schema)
        return base

    def list_targets(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """List where its references lead; LookupError tells of one that leads out."""
        for keyword in _REFERENCES:
            reference = schema.get(keyword)
            if isinstance(reference, str):
                try:
                    yield from self._find_all(schema, reference)
                except (LookupError, TypeError, ValueError):
                    where = build_pointer(self.places[id(schema)]) or "its top"
                    raise LookupError(
                        f"at {where} {reference} does not lead to a place in it"
                    ) from None

    def _find_all(self, schema: Mapping[str, Any], reference: str) -> list[Any]:
        base, fragment = urldefrag(urljoin(self._bases[id(schema)], reference))
        if fragment and not fragment.startswith("/"):
            return self._anchors[unquote(fragment)]
        value = self._resources[base]
        for part in unquote(fragment).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
        return [value]


def build_pointer(keys: Keys | list[str | int]) -> str:
    """Write keys as RFC 6901 does."""
    parts = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    return "".join("/" + part for part in parts)
