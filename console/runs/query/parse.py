"""A query of the run list, and the filter that its terms mean together."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from console.query import terms
from console.query.moments import WrittenTime
from console.query.terms import Query, Term, list_once
from console.runs.query.fields import ACCEPTED, FIELDS
from ledger.run_list.filter import Bound, RunFilter


def parse_query(line: str) -> Query:
    return terms.parse_query(line, FIELDS)


def build_filter(query: Query, *, now: datetime) -> RunFilter:
    """What the terms mean at this moment."""
    labels = (term.values for term in query.terms if term.name == "label")
    return RunFilter(
        statuses=list_once(
            status for group in query.list_values("status") for status in group
        ),
        agents=list_once(query.list_values("agent")),
        models=list_once(query.list_values("model")),
        intents=list_once(query.list_values("intent")),
        policies=list_once(query.list_values("policy")),
        labels=tuple(labels),
        parents=list_once(query.list_values("parent")),
        depths=list_once(query.list_values("depth")),
        accepted=tuple(ACCEPTED[each] for each in query.list_values("accepted")),
        bounds=tuple(
            _build_bound(term) for term in query.terms if _is_bound(term.name)
        ),
        since=_find_since(query, now),
        until=_find_until(query, now),
        texts=list_once(query.list_values("")),
    )


def _is_bound(name: str) -> bool:
    return bool(name) and FIELDS[name].compares


def _build_bound(term: Term) -> Bound:
    figure: Any = term.name
    operator: Any = term.token.operator
    return Bound(figure=figure, operator=operator, value=term.values[0])


def _find_since(query: Query, now: datetime) -> datetime | None:
    for written in query.list_values("since"):
        assert isinstance(written, WrittenTime)
        return written.find_first(now)
    return None


def _find_until(query: Query, now: datetime) -> datetime | None:
    for written in query.list_values("until"):
        assert isinstance(written, WrittenTime)
        return written.find_last(now)
    return None
