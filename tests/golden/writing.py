"""The form of recorded files: text in short lines that lose no byte of what was sent."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mask:
    """What is replaced in every recorded text, and why it cannot be held still."""

    pattern: str
    shown: str
    reason: str


MASKS = (
    Mask(
        r"(/static/[\w./-]+?)\.[0-9a-f]{8,16}(\.\w+)",
        r"\1.HASH\2",
        "Names of static files carry a hash of their content, which is no behaviour.",
    ),
    Mask(
        r'(process|version)="[^"]+"',
        r'\1="HELD"',
        "Figures of the server name its machine, its process and its version.",
    ),
    Mask(
        r'("version": |"version":)"\d+\.\d+\.\d+"',
        r'\1"HELD"',
        "The version of the project is no behaviour.",
    ),
    Mask(
        r"(checkrail_process_\w+\{.*?\}) [\d.e+]+",
        r"\1 MEASURED",
        "Memory and time of the processor are measured.",
    ),
    Mask(
        r"<pre>[^<\s]*python manage\.py (\w+) (.*?) --data [^<\s]+",
        r"<pre>python manage.py \1 \2 --data DATA",
        "The page says how this very server's commands are called.",
    ),
)


def mask(text: str) -> str:
    for each in MASKS:
        text = re.sub(each.pattern, each.shown, text)
    # Git keeps lines that end with a line feed alone.
    return text.replace("\r", "␍")


def write_json(text: str) -> str:
    """One value in a line, in the order of the sender; compact where that is short.

    Where the sender did not write it without spaces, a line tells the hash of its bytes.
    """
    value = json.loads(text, parse_float=_Literal, parse_int=_Literal)
    lines = _break_value(value, "")
    if _write_compact(value) != text:
        lines.append(f"(written otherwise: {digest(text)})")
    return "\n".join(lines)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Literal(float):
    """A number that remembers how it was written: 1.0 and 1 are different answers."""

    text: str

    def __new__(cls, text: str) -> _Literal:
        made = super().__new__(cls, text)
        made.text = text
        return made


def _write_compact(value: Any) -> str:
    match value:
        case _Literal():
            return value.text
        case dict():
            inner = (
                f"{_write_compact(key)}:{_write_compact(each)}"
                for key, each in value.items()
            )
            return "{" + ",".join(inner) + "}"
        case list():
            return "[" + ",".join(map(_write_compact, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _break_value(value: Any, indent: str) -> list[str]:
    short = _write_compact(value)
    nested = isinstance(value, dict | list) and bool(value)
    if not nested or len(indent) + len(short) <= 88:
        return [indent + short]
    deeper = indent + " "
    if isinstance(value, list):
        rows = [_break_value(each, deeper) for each in value]
        opening, closing = "[", "]"
    else:
        rows = [
            _put_before(f"{deeper}{_write_compact(key)}: ", _break_value(each, deeper))
            for key, each in value.items()
        ]
        opening, closing = "{", "}"
    for row in rows[:-1]:
        row[-1] += ","
    lines = [line for row in rows for line in row]
    return [indent + opening, *lines, indent + closing]


def _put_before(name: str, lines: list[str]) -> list[str]:
    return [name + lines[0].lstrip(" "), *lines[1:]]
