"""A request that a tool sends: method, address, headers and body each have a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import Invalid
from console.queue.amending.parts import AmendPart, PartReader, Typed
from console.queue.amending.texts import (
    format_document,
    format_text,
    parse_document,
    parse_text,
)
from guidance.core.tools.marked_arguments import normalize_name

_METHODS = frozenset({"method", "httpmethod", "requestmethod"})
_ADDRESSES = frozenset({"url", "uri", "address", "endpoint"})
_HEADERS = frozenset({"headers", "httpheaders", "requestheaders"})
_BODIES = frozenset({"body", "data", "json", "payload"})
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]+")
_METHOD = re.compile(r"[A-Za-z][A-Za-z-]{0,19}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """One argument with a field of its own, and how it is written and read there."""

    key: str
    label: str
    text: str
    parse: Callable[[str], Any]
    escaped: bool = False
    short: bool = False


def is_request(shown: Mapping[str, Any]) -> bool:
    return any(
        normalize_name(key) in _ADDRESSES
        and isinstance(value, str)
        and _ADDRESS.fullmatch(value)
        for key, value in shown["arguments"].items()
    )


class RequestEditor:
    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        fields, rest = _split(shown["arguments"])
        parts = [
            AmendPart(
                name=f"amended-{number}",
                label=field.label,
                text=field.text,
                key=field.key,
                escaped=field.escaped,
                short=field.short,
            )
            for number, field in enumerate(fields, start=1)
        ]
        others = AmendPart(
            name="amended-others",
            label="Other arguments, as JSON",
            text=format_document(rest),
            key="",
        )
        return (*parts, others)

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        fields, _ = _split(shown["arguments"])
        *parts, others = self.list_parts(shown)
        reader = PartReader(typed)
        values = {
            field.key: reader.read(part, field.parse)
            for field, part in zip(fields, parts, strict=True)
        }
        rest = reader.read(
            others, lambda text: _parse_others(text, {*values}), missing={}
        )
        reader.refuse_problems()
        return {"arguments": {**values, **rest}}


def _split(arguments: Mapping[str, Any]) -> tuple[list[_Field], dict[str, Any]]:
    """The fields in the order that people read a request in, and what has none."""
    fields = list(_list_fields(arguments))
    named = {field.key for field in fields}
    return fields, {key: arguments[key] for key in arguments if key not in named}


def _list_fields(arguments: Mapping[str, Any]) -> Iterator[_Field]:
    for names, build in (
        (_METHODS, _build_method),
        (_ADDRESSES, _build_address),
        (_HEADERS, _build_headers),
        (_BODIES, _build_body),
    ):
        for key, value in arguments.items():
            field = build(key, value) if normalize_name(key) in names else None
            if field is not None:
                yield field


def _build_method(key: str, value: object) -> _Field | None:
    if not isinstance(value, str) or not _METHOD.fullmatch(value):
        return None
    return _Field(key=key, label="Method", text=value, parse=_parse_method, short=True)


def _build_address(key: str, value: object) -> _Field | None:
    if not isinstance(value, str):
        return None
    text, escaped = format_text(key, value)
    return _Field(
        key=key,
        label="Address",
        text=text,
        escaped=escaped,
        short=True,
        parse=lambda typed: _parse_address(parse_text(key, value, typed)),
    )


def _build_headers(key: str, value: object) -> _Field | None:
    """A line each, where every one of them fits on a line."""
    if not isinstance(value, dict):
        return None
    lines = [f"{name}: {held}" for name, held in value.items()]
    try:
        plain = all(isinstance(held, str) for held in value.values()) and (
            _parse_headers("\n".join(lines)) == value
        )
    except Invalid:
        plain = False
    if not plain or format_text(key, "\n".join(lines))[1]:
        return None
    return _Field(
        key=key,
        label="Headers, a line each, such as Accept: text/html",
        text="\n".join(lines),
        parse=_parse_headers,
    )


def _build_body(key: str, value: object) -> _Field | None:
    if isinstance(value, dict):
        text = format_document(value)
        return _Field(key=key, label="Body, as JSON", text=text, parse=parse_document)
    if not isinstance(value, str):
        return None
    text, escaped = format_text(key, value)
    return _Field(
        key=key,
        label="Body",
        text=text,
        escaped=escaped,
        parse=lambda typed: parse_text(key, value, typed),
    )


def _parse_method(typed: str) -> str:
    method = typed.strip()
    if not _METHOD.fullmatch(method):
        raise Invalid("Write one word, such as GET or POST.")
    return method


def _parse_address(typed: str) -> str:
    address = typed.strip()
    if not _ADDRESS.fullmatch(address):
        raise Invalid(
            "Write a whole address without blanks, such as https://example.org/path."
        )
    return address


def _parse_headers(typed: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for number, line in enumerate(typed.split("\n"), start=1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        name = name.strip()
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise Invalid(
                f"Line {number} is no header: write Name: value. Your text is kept."
            )
        if name.lower() in {each.lower() for each in headers}:
            raise Invalid(f"Line {number} names {name} a second time.")
        headers[name] = value.strip()
    return headers


def _parse_others(typed: str, fields: set[str]) -> dict[str, Any]:
    values = parse_document(typed)
    twice = sorted(fields & {*values})
    if twice:
        raise Invalid(f"{twice[0]} has a field of its own above.")
    return values


REQUEST = RequestEditor()
