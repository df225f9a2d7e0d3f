"""The JSON Schema of policy documents, recorded from the code that reads them.

The reader is run once over a section that notes what it is asked for. So a setting that
is read is in the schema, with its bounds and its default, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from guidance.core.document_reader import LIST_LIMIT, Section
from guidance.core.money import AMOUNT_PATTERN, format_usd
from guidance.core.policy.policy import WORDS, read_policy

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Stands in a path for the name or the number of one of several.
ANY = "*"
Value = TypeVar("Value")


class Recorder(Section):
    """A section that holds nothing and notes what it is asked for."""

    def __init__(self, path: str) -> None:
        super().__init__({}, path=path, problems=[])
        self._properties: dict[str, Callable[[], Any]] = {}
        self._optional: set[str] = set()
        self._required: list[str] = []

    def build(self) -> dict[str, Any]:
        """The object as it was asked for, with all that was read from its parts."""
        return {
            "type": "object",
            "properties": {name: make() for name, make in self._properties.items()},
            **({"required": self._required} if self._required else {}),
            "additionalProperties": False,
        }

    def read_part(self, name: str) -> Section:
        part = self._record_part(name)
        self._note(name, part.build)
        return part

    def read_integer(self, name: str, default: int, *, low: int, high: int) -> int:
        return self._keep(
            name, default, {"type": "integer", "minimum": low, "maximum": high}
        )

    def read_number(
        self, name: str, default: float, *, low: float, high: float
    ) -> float:
        return self._keep(
            name, default, {"type": "number", "minimum": low, "maximum": high}
        )

    def read_limit(self, name: str, default: int | None, *, high: int) -> int | None:
        limit = {"type": ["integer", "null"], "minimum": 1, "maximum": high}
        return self._keep(name, default, limit)

    def read_money(self, name: str, default: int | None, *, high: int) -> int | None:
        above_zero = rf"^(?!0(\.0*)?$){AMOUNT_PATTERN}$"
        money = {"type": ["string", "null"], "pattern": above_zero}
        self._keep(name, None if default is None else format_usd(default), money)
        return default

    def read_price(self, name: str, *, high: int, default: int | None = None) -> int:
        amount = {"type": "string", **_build_pattern(AMOUNT_PATTERN)}
        self._note(name, lambda: amount)
        if default is None:
            self._required.append(name)
        return 0

    def read_choice(self, name: str, default: str, *, among: tuple[str, ...]) -> str:
        if default in among:
            return self._keep(name, default, {"enum": list(among)})
        self._note(name, lambda: {"enum": list(among)})
        return default

    def read_choices(
        self, name: str, *, among: tuple[str, ...], pattern: str = ""
    ) -> dict[str, str]:
        choices = {"type": "object", "additionalProperties": {"enum": list(among)}}
        if pattern:
            choices["propertyNames"] = _build_pattern(pattern)
        return self._keep(name, {}, choices)

    def read_flag(self, name: str, *, default: bool) -> bool:
        return self._keep(name, default, {"type": "boolean"})

    def read_text(
        self, name: str, *, most: int, default: str | None = None, pattern: str = ""
    ) -> str:
        text = {"type": "string", "minLength": 1, "maxLength": most}
        text |= _build_pattern(pattern)
        if default:
            return self._keep(name, default, text)
        self._note(name, lambda: text)
        if default is None and name not in self._optional:
            self._required.append(name)
        return ""

    def read_texts(
        self,
        name: str,
        default: tuple[str, ...],
        *,
        problem: Callable[[str], str | None],
        among: tuple[str, ...] = (),
        pattern: str = "",
        fewest: int = 0,
    ) -> tuple[str, ...]:
        items = {"type": "string", "minLength": 1, **_build_pattern(pattern)}
        if among:
            items = {"enum": list(among)}
        texts = {"type": "array", "items": items, "maxItems": LIST_LIMIT}
        if fewest:
            texts["minItems"] = fewest
        self._keep(name, list(default), texts)
        return default

    def read_parts(self, name: str, *, text_key: str = "") -> tuple[Section, ...]:
        item = self._record_part(f"{name}.{ANY}")
        self._note(name, lambda: _build_list(item, text_key=text_key))
        return (item,)

    def read_flag_or_parts(
        self, name: str, *, default: bool
    ) -> bool | tuple[Section, ...]:
        item = self._record_part(f"{name}.{ANY}")
        self._note(
            name,
            lambda: {
                "anyOf": [{"type": "boolean"}, _build_list(item)],
                "default": default,
            },
        )
        return (item,)

    def read_named_parts(
        self, name: str, *, most: int = LIST_LIMIT, pattern: str = ""
    ) -> dict[str, Section]:
        part = self._record_part(f"{name}.{ANY}")
        self._note(
            name,
            lambda: {
                "type": "object",
                "additionalProperties": part.build(),
                "maxProperties": most,
                **({"propertyNames": _build_pattern(pattern)} if pattern else {}),
            },
        )
        return {ANY: part}

    def read_objects(self, name: str) -> dict[str, dict[str, Any]]:
        objects = {"type": "object", "additionalProperties": {"type": "object"}}
        return self._keep(name, {}, {**objects, "maxProperties": LIST_LIMIT})

    def read_free(self, name: str) -> dict[str, Any]:
        return self._keep(name, {}, {"type": "object"})

    def has(self, name: str) -> bool:
        """Who asks this reads it only where it stands: it may be left out."""
        self._optional.add(name)
        return True

    def refuse(self, name: str, message: str) -> None:
        """Nothing was given, so nothing is wrong with it."""

    def _record_part(self, name: str) -> Recorder:
        return Recorder(self._build_path(name))

    def _keep(self, name: str, default: Value, schema: dict[str, Any]) -> Value:
        self._note(name, lambda: {**schema, "default": default})
        return default

    def _note(self, name: str, make: Callable[[], dict[str, Any]]) -> None:
        words = WORDS.get(self._build_path(name))

        def build() -> dict[str, Any]:
            schema = {**(words.to_json() if words else {}), **make()}
            if "x-default-from" in schema:
                del schema["default"]
            return schema

        self._properties[name] = build


def _build_pattern(pattern: str) -> dict[str, Any]:
    """The whole text has this form."""
    return {"pattern": f"^(?:{pattern})$"} if pattern else {}


def _build_list(item: Recorder, *, text_key: str = "") -> dict[str, Any]:
    items: dict[str, Any] = item.build()
    if text_key:
        whole = items["properties"][text_key]
        bounds = ("type", "minLength", "maxLength")
        items = {"anyOf": [{name: whole[name] for name in bounds}, items]}
    return {"type": "array", "items": items, "maxItems": LIST_LIMIT}


def _build_policy_schema() -> Mapping[str, Any]:
    root = Recorder("")
    read_policy(root)
    return {"$schema": DIALECT, "title": "A policy of Checkrail", **root.build()}


POLICY_SCHEMA = _build_policy_schema()
