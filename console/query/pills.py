"""The terms of a query as pills, and the whole of it in words."""

from __future__ import annotations

from dataclasses import dataclass

from console.query.moments import WrittenTime
from console.query.terms import Query, Term
from safetext import make_visible_line

_SIGNS = {
    ">": "more than",
    ">=": "at least",
    "<": "less than",
    "<=": "at most",
    "=": "exactly",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pill:
    """What a term narrows, in words, and the query without it."""

    label: str
    words: str
    rest: str


def build_pills(query: Query) -> list[Pill]:
    return [
        Pill(
            label=_get_label(term, query),
            words=make_visible_line(_describe(term, query)),
            rest=str(query.without(place)),
        )
        for place, term in enumerate(query.terms)
    ]


def describe_query(query: Query) -> str:
    """Such as "agent robo, status failed or stopped"."""
    return ", ".join(
        f"{_get_label(term, query).lower()} {make_visible_line(_describe(term, query, ' or '))}"
        for term in query.terms
    )


def _get_label(term: Term, query: Query) -> str:
    if not term.name:
        return "Text"
    field, value = query.fields[term.name], term.values[0]
    if isinstance(value, WrittenTime) and value.ago is not None:
        return field.recent
    return field.label


def _describe(term: Term, query: Query, between: str = ", ") -> str:
    token = term.token
    if not term.name:
        return f"“{token.values[0]}”"
    field, value = query.fields[term.name], term.values[0]
    if isinstance(value, WrittenTime):
        if value.ago is None:
            return value.words
        if term.name == "until":
            return f"over {value.words} ago"
        return f"last {value.words.removeprefix('1 ')}"
    texts = [field.write(each) for each in token.values]
    if field.compares:
        return f"{_SIGNS[token.operator]} {texts[0]}"
    return between.join(texts)
