"""Loops that may be started: their parameters, and when starting one can do harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.arguments import Pattern, Schema
from guidance.core.canonical import to_canonical_json

EVERY_PARAMETER = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """A parameter by its dotted name, or `*` for all, and what makes it dangerous."""

    parameter: str
    text: str
    pattern: Pattern = field(compare=False)

    def to_json(self) -> dict[str, str]:
        return {"parameter": self.parameter, "pattern": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopKind:
    """`destructive` True: a person is asked each time. False: never."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    destructive: bool | tuple[Harm, ...] = True
    schema: Schema = field(compare=False)

    def find_problem(self, parameters: Mapping[str, Any]) -> str | None:
        """Why these parameters cannot be used, None if they can."""
        found = self.schema.list_problems(parameters)
        if not found:
            return None
        return f"parameters{found[0].path}: {found[0].message}"

    def find_harm(self, parameters: Mapping[str, Any]) -> str | None:
        """Why a person has to be asked, None if nobody has."""
        if isinstance(self.destructive, bool):
            return f"{self.name} is marked as destructive" if self.destructive else None
        for harm in self.destructive:
            for name, text in _list_texts(parameters, ""):
                if _covers(harm.parameter, name) and harm.pattern.find(text, limit=1):
                    return f"{name or 'a parameter'} matches {harm.text}"
        return None

    def to_json(self) -> dict[str, Any]:
        destructive = self.destructive
        described = {"description": self.description} if self.description else {}
        return {
            "name": self.name,
            **described,
            "parameters": dict(self.parameters),
            "destructive": destructive
            if isinstance(destructive, bool)
            else [harm.to_json() for harm in destructive],
        }


def _covers(wanted: str, name: str) -> bool:
    return wanted == EVERY_PARAMETER or name == wanted or name.startswith(f"{wanted}.")


def _list_texts(value: object, name: str) -> Iterator[tuple[str, str]]:
    """Every text and number however deep, and every name: harm may hide in either."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield name, str(key)
            yield from _list_texts(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for part in value:
            yield from _list_texts(part, name)
    elif value is not None:
        yield name, value if isinstance(value, str) else to_canonical_json(value)
