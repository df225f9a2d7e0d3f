"""What is said about a command: findings, and the parts it was split into."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFinding:
    """`span` are the character offsets of `text`, the part that tripped. `target` is
    what the message names of it, empty where it names nothing.

    `uninspectable` says that the part could not be read, not that it is harmful.
    """

    rule: str
    message: str
    why: str
    safer: str
    span: Span
    text: str
    family: str
    severity: str
    decision: str
    target: str = ""
    uninspectable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One argument as the program would get it; `unresolved` ones are not known yet."""

    text: str
    span: Span
    unresolved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command, and in `via` how it was reached, outermost first."""

    name: str
    text: str
    span: Span
    tokens: tuple[Token, ...]
    via: tuple[str, ...]
