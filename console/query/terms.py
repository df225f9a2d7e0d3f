"""A line of text as terms of a list's fields.

Nothing is passed over: what is no term is an error that names the word and what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from console.query.tokens import Token, cut_tokens, write_token

LINE_LIMIT = 500
VALUES_LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`read` gives None for a value that is refused; `allowed` says what is not.

    `label` is what people call it. `compares`: it takes `>` and `<` instead of `:`.
    `once`: it cannot be said twice. `write` is a value as people read it, `recent` what
    they call a time that is said as so long ago.
    """

    label: str
    read: Callable[[str], Any]
    allowed: str
    example: str
    compares: bool = False
    once: bool = False
    write: Callable[[str], str] = str
    recent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A token that was understood, with its values as they count."""

    token: Token
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.token.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """`fields` are those of the list that is asked, by their names."""

    terms: tuple[Term, ...] = ()
    errors: tuple[str, ...] = ()
    fields: Mapping[str, Field]

    def __str__(self) -> str:
        """The line as it would be typed."""
        return " ".join(write_token(term.token) for term in self.terms)

    def without(self, place: int) -> Query:
        return replace(
            self, terms=self.terms[:place] + self.terms[place + 1 :], errors=()
        )

    def switch(self, name: str, value: str) -> Query:
        """With this value of a field, or without it where it is asked for already."""
        terms, found = [], False
        for term in self.terms:
            if term.name != name or value not in term.token.values:
                terms.append(term)
                continue
            found = True
            rest = tuple(each for each in term.token.values if each != value)
            if rest:
                token = replace(term.token, values=rest)
                terms.append(Term(token=token, values=rest))
        if not found:
            token = Token(name=name, operator=":", values=(value,))
            terms.append(Term(token=token, values=(value,)))
        return replace(self, terms=tuple(terms), errors=())

    def list_values(self, name: str) -> list[Any]:
        return [
            value for term in self.terms if term.name == name for value in term.values
        ]


def parse_query(line: str, fields: Mapping[str, Field]) -> Query:
    if len(line) > LINE_LIMIT:
        too_long = f"A query has at most {LINE_LIMIT} characters."
        return Query(errors=(too_long,), fields=fields)
    tokens, fault = cut_tokens(line)
    terms: list[Term] = []
    errors = [fault] if fault else []
    said: set[str] = set()
    for token in tokens:
        term = _read_token(token, fields)
        if isinstance(term, str):
            errors.append(term)
            continue
        if term.name in said and term.name and fields[term.name].once:
            errors.append(f"“{term.name}” is said twice.")
            continue
        said.add(term.name)
        terms.append(term)
    return Query(terms=tuple(terms), errors=tuple(errors), fields=fields)


def _read_token(token: Token, fields: Mapping[str, Field]) -> Term | str:
    """The term, or what is wrong with it."""
    if not token.name:
        (text,) = token.values
        if not text.strip():
            return "There is nothing between the quotation marks."
        return Term(token=token, values=(text,))
    word = write_token(token)
    field = fields.get(token.name)
    if field is None:
        return (
            f"“{word}”: there is no “{token.name}” to filter by. "
            f"There is {', '.join(fields)}. Text with such signs goes in quotation marks."
        )
    if field.compares and token.operator == ":":
        return f"“{word}”: {token.name} is compared, as in {field.example}."
    if not field.compares and token.operator != ":":
        return f"“{word}”: {token.name} takes a colon, as in {field.example}."
    if len(token.values) > VALUES_LIMIT:
        return f"“{token.name}” takes at most {VALUES_LIMIT} values."
    if len(token.values) > 1 and (field.compares or field.once):
        return f"“{word}”: {token.name} takes one value."
    values = [field.read(each) for each in token.values]
    for text, value in zip(token.values, values, strict=True):
        if value is None:
            said = f"“{text}” is no" if text else "nothing is no"
            return f"“{word}”: {said} value of {token.name}. It takes {field.allowed}."
    return Term(token=token, values=tuple(values))


def read_text(text: str) -> str | None:
    return text or None


def read_label(text: str) -> tuple[str, str | None] | None:
    name, sign, value = text.partition("=")
    return (name, value if sign else None) if name else None


def list_once(values: Iterable[Any]) -> tuple[Any, ...]:
    """Each value once, in their order."""
    return tuple(dict.fromkeys(values))
