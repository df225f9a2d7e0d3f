"""The fields of the editor's form, made from the published schema of policies.

A field shows one setting as text. An empty one leaves the setting out, "none" is no limit
or an empty list. What its kind cannot show without loss is edited as YAML instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from guidance.core.policy.differences import format_path
from guidance.core.policy.meaning import format_value
from guidance.core.policy.policy import WORDS
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.core.shell_commands.rules import RULES
from guidance.yaml_documents import YamlError, parse_yaml, write_yaml
from safetext import make_visible

Keys = tuple[str, ...]
ABSENT: Any = object()
NONE = "none"
RULE_KEYS = ("tools", "rules")
_WHOLE = re.compile(r"-?\d{1,18}")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,30})?([eE][-+]?\d{1,3})?")
_SETTING = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
# Up to here a highest value says something; a higher one is only a guard.
_SMALL = 1000
_ONE_LINE = ("number", "share", "money")
_FLAGS = {"on": True, "off": False}
_DECISIONS = {"warn": "note", "require-confirmation": "ask"}


class FieldRefused(ValueError):
    """A text that cannot be put into the document at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`default` is what counts where it is left out; `kind` is how it is edited. What a
    tool rule leads to is chosen at a glance: there `unset` is the choice to leave it out."""

    keys: Keys
    label: str
    hint: str
    kind: str
    text: str
    unit: str = ""
    schema_unit: str = ""
    default: str = ""
    placeholder: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    unset: str = ""

    @property
    def path(self) -> str:
        return format_path(self.keys)

    @property
    def name(self) -> str:
        """Of the input; ids of what belongs to it are made from it."""
        return f"f:{self.path}"

    @property
    def id(self) -> str:
        return "f-" + "".join(
            letter if letter.isascii() and letter.isalnum() else f"_{ord(letter):x}_"
            for letter in self.path
        )

    def parse(self, text: str) -> Any:
        return parse_text(self.kind, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGroup:
    """`keys` lead to a thing that can be removed: a gate or a rule."""

    title: str
    fields: tuple[Field, ...]
    keys: Keys = ()

    @property
    def removal(self) -> str:
        """What the button sends that removes it."""
        return f"remove:{format_path(self.keys)}"


def build_groups(document: Mapping[str, Any]) -> tuple[FieldGroup, ...]:
    """All settings but gates and tool rules, section by section."""
    return tuple(
        FieldGroup(
            title=schema["title"],
            fields=tuple(_iterate_fields(schema, (name,), (), document)),
        )
        for name, schema in POLICY_SCHEMA["properties"].items()
        if name != "gates"
    )


def build_gate_groups(document: Mapping[str, Any]) -> tuple[FieldGroup, ...]:
    """One that is no gate, or gates that are none at all, are edited as YAML."""
    gates = document.get("gates", {})
    whole = POLICY_SCHEMA["properties"]["gates"]
    if not isinstance(gates, Mapping):
        field = build_field(whole, ("gates",), (), document)
        return (FieldGroup(title=whole["title"], keys=field.keys, fields=(field,)),)
    schema = whole["additionalProperties"]
    return tuple(
        FieldGroup(
            title=slug,
            keys=("gates", slug),
            fields=tuple(_iterate_fields(schema, ("gates", slug), (), document)),
        )
        for slug in gates
    )


def build_rule_fields(
    document: Mapping[str, Any], names: Sequence[str]
) -> tuple[Field, ...]:
    """What a rule leads to, for each of these and for those that the document names."""
    schema = POLICY_SCHEMA["properties"]["tools"]["properties"]["rules"]
    stored = read_value(document, RULE_KEYS)
    known = [str(name) for name in stored] if isinstance(stored, Mapping) else []
    return tuple(
        _build_rule_field(schema["additionalProperties"], name, document)
        for name in dict.fromkeys([*known, *names])
    )


def _build_rule_field(
    schema: Mapping[str, Any], name: str, document: Mapping[str, Any]
) -> Field:
    field = build_field(schema, (*RULE_KEYS, name), (), document)
    if field.kind != "choice":
        return field
    built_in = find_built_in(field.keys)
    return replace(
        field,
        choices=field.choices[::-1],
        unset="not set",
        default="" if built_in is ABSENT else format_choice(built_in),
    )


def find_built_in(keys: Keys) -> Any:
    """What a rule leads to where no policy says otherwise."""
    if keys[:-1] != RULE_KEYS or keys[-1] not in RULES:
        return ABSENT
    return RULES[keys[-1]].decision


def format_choice(value: str) -> str:
    return _DECISIONS.get(value, value)


def list_fields(document: Mapping[str, Any], rules: Sequence[str] = ()) -> list[Field]:
    groups = (*build_groups(document), *build_gate_groups(document))
    fields = [field for group in groups for field in group.fields]
    return [*fields, *build_rule_fields(document, rules)]


def read_value(document: Any, keys: Keys) -> Any:
    for key in keys:
        if not isinstance(document, Mapping) or key not in document:
            return ABSENT
        document = document[key]
    return document


def _iterate_fields(
    schema: Mapping[str, Any],
    keys: Keys,
    labels: tuple[str, ...],
    document: Mapping[str, Any],
) -> Iterator[Field]:
    """A part that is no object in the document, or holds nothing of what it may hold, is
    one field: its own cannot show it."""
    value = read_value(document, keys)
    named = schema.get("properties", {})
    shows = value in (ABSENT, {}) or (
        isinstance(value, Mapping) and not named.keys().isdisjoint(value)
    )
    if not named or not shows:
        yield build_field(schema, keys, labels, document)
        return
    for name, inner in named.items():
        if (*keys, name) == RULE_KEYS and _can_be_rules(document):
            continue
        below = (*labels, inner["title"]) if "properties" in inner else labels
        yield from _iterate_fields(inner, (*keys, name), below, document)


def _can_be_rules(document: Mapping[str, Any]) -> bool:
    rules = read_value(document, RULE_KEYS)
    return rules is ABSENT or isinstance(rules, Mapping)


def build_field(
    schema: Mapping[str, Any],
    keys: Keys,
    labels: tuple[str, ...],
    document: Mapping[str, Any],
) -> Field:
    value = read_value(document, keys)
    kind = _choose_kind(schema, value)
    unit = schema.get("x-unit", "")
    default = schema.get("default", ABSENT)
    shown = "" if default is ABSENT else format_value(default, unit)
    return Field(
        keys=keys,
        label=_build_label(schema, labels) or keys[-1],
        hint=_build_hint(schema, keys),
        kind=kind,
        text=render_text(kind, value),
        schema_unit=unit,
        unit={"share": "%", "USD": "$", "score": ""}.get(unit, unit),
        default=shown if len(shown) <= 40 else f"{shown[:39]}…",
        # Its unit stands beside it.
        placeholder=render_text(kind, default) if kind in _ONE_LINE else shown[:40],
        choices=_list_choices(schema, kind),
    )


def _build_label(schema: Mapping[str, Any], labels: tuple[str, ...]) -> str:
    """A part that is shown as a whole has its own label among those already."""
    title = schema.get("title", "")
    if not title or labels[-1:] == (title,):
        return ", ".join(labels)
    return ", ".join((*labels, title))


def _build_hint(schema: Mapping[str, Any], keys: Keys) -> str:
    """What it says, in the words of the form, and between which values."""
    said = schema.get("description", "").replace("null is", "“none” is")

    def name_other(found: re.Match[str]) -> str:
        words = WORDS.get(".".join((*keys[:-1], found[0])))
        return f"“{words.label}”" if words else found[0]

    said = _SETTING.sub(name_other, said)
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None or high is None or high > _SMALL:
        return said
    if schema.get("x-unit") == "share":
        low, high = 100 * low, 100 * high
    return f"{said} {low} to {high}."


def _list_choices(schema: Mapping[str, Any], kind: str) -> tuple[tuple[str, str], ...]:
    if kind == "flag":
        return (("on", "on"), ("off", "off"))
    if kind == "choice":
        return tuple((each, format_choice(each)) for each in schema["enum"])
    return ()


def _choose_kind(schema: Mapping[str, Any], value: Any) -> str:
    kind = _get_usual_kind(schema)
    if value is ABSENT or kind == "yaml":
        return kind
    if kind in ("text", "lines") and _hides(value):
        return "yaml"
    offered = {"choice": schema.get("enum", ()), "flag": (True, False)}.get(kind)
    if offered is not None and value not in offered:
        return "yaml"
    try:
        again = parse_text(kind, render_text(kind, value))
    except (ValueError, TypeError, AttributeError, InvalidOperation):
        return "yaml"
    return kind if again is not ABSENT and _dump(again) == _dump(value) else "yaml"


def _hides(value: Any) -> bool:
    """Tell whether it has characters that are not seen, which YAML can write out."""
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(each, str) and make_visible(each) != each for each in texts)


def _get_usual_kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "choice"
    types = schema.get("type", ())
    types = types if isinstance(types, list) else [types]
    if "boolean" in types:
        return "flag"
    if {"integer", "number"} & {*types}:
        return "share" if schema.get("x-unit") == "share" else "number"
    if "string" in types:
        return "money" if schema.get("x-unit") == "USD" else "text"
    items = schema.get("items", {})
    texts = (
        "enum" in items
        or items.get("type") == "string"
        or any(each.get("type") == "string" for each in items.get("anyOf", ()))
    )
    return "lines" if texts else "yaml"


def render_text(kind: str, value: Any) -> str:
    if value is ABSENT:
        return ""
    match kind:
        case "lines":
            return "\n".join(value) if value else NONE
        case "flag":
            return "on" if value else "off"
        case "share" | "number" if isinstance(value, str):
            return value  # what was typed and is no number
        case "share" if value is not None:
            return _render_share(value)
        case "number" | "share" | "money" if value is None:
            return NONE
        case "yaml":
            has_parts = isinstance(value, Mapping | list) and value
            return write_yaml(value) if has_parts else json.dumps(value)
        case "number":
            return json.dumps(value)
        case _:
            return str(value)


def parse_text(kind: str, text: str) -> Any:
    """The value of a text; what is no value of its kind is kept as the text, which the
    reader of policies then refuses at its place."""
    text = text.replace("\r\n", "\n")
    if kind != "text":
        text = text.strip()
    if not text.strip():
        return ABSENT
    match kind:
        case "lines":
            return [] if text == NONE else [line.strip() for line in text.split("\n")]
        case "flag":
            return _FLAGS.get(text, text)
        case "share" | "number" | "money" if text == NONE:
            return None
        case "share":
            return _parse_share(text)
        case "number":
            return json.loads(text) if _NUMBER.fullmatch(text) else text
        case "yaml":
            try:
                return parse_yaml(text).document
            except YamlError as error:
                raise FieldRefused(str(error)) from None
        case _:
            return text


def _render_share(value: Any) -> str:
    """In per cent, to the last digit; a whole float keeps its point."""
    text = format(Decimal(repr(value)).scaleb(2), "f")
    return (
        f"{text}.0"
        if isinstance(value, float) and _WHOLE.fullmatch(text) and (value.is_integer())
        else text
    )


def _parse_share(text: str) -> Any:
    try:
        share = Decimal(text).scaleb(-2)
    except InvalidOperation:
        return text
    if not share.is_finite():
        return text
    whole = _WHOLE.fullmatch(text) and share == share.to_integral_value()
    return int(share) if whole else float(share)


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
