"""A query of the queue: its fields, and the filter that its terms mean together."""

from __future__ import annotations

from uuid import UUID

from common.ids import parse_code
from console.query import terms
from console.query.terms import Field, Query, list_once, read_label, read_text
from reviews.models import Kind, ReviewState, Severity
from reviews.queue.filters import ReviewFilter
from reviews.queue.likeness import parse_alike_key

ME = "me"
_YES_OR_NO = {"yes": True, "no": False}
_ANSWERS = ", ".join(_YES_OR_NO)


def read_severity(text: str) -> str | None:
    return text.lower() if text.lower() in Severity.values else None


def read_kind(text: str) -> str | None:
    return text.lower() if text.lower() in Kind.values else None


def read_run(text: str) -> UUID | None:
    return parse_code(text.lower())


def read_answer(text: str) -> str | None:
    return text.lower() if text.lower() in _YES_OR_NO else None


def write_run(text: str) -> str:
    return f"r-{text[-6:]}"


def write_alike(text: str) -> str:
    return f"#{text[:6]}"


FIELDS: dict[str, Field] = {
    "severity": Field(
        label="Severity",
        read=read_severity,
        allowed=", ".join(Severity.values),
        example="severity:critical,high",
    ),
    "kind": Field(
        label="Kind",
        read=read_kind,
        allowed=", ".join(Kind.values),
        example="kind:confirmation",
    ),
    "agent": Field(
        label="Agent", read=read_text, allowed="an agent's name", example="agent:robo"
    ),
    "label": Field(
        label="Label",
        read=read_label,
        allowed="name=value, or a name",
        example="label:repo=shop",
    ),
    "assignee": Field(
        label="Claimed by",
        read=read_text,
        allowed=f"a person's name, or {ME}",
        example="assignee:bob",
    ),
    "claimed": Field(
        label="Claimed",
        read=read_answer,
        allowed=_ANSWERS,
        example="claimed:no",
        once=True,
    ),
    "overdue": Field(
        label="Past due",
        read=read_answer,
        allowed=_ANSWERS,
        example="overdue:yes",
        once=True,
    ),
    "run": Field(
        label="Run",
        read=read_run,
        allowed="the whole id of a run",
        example="run:01900000-0000-7000-8000-000000000000",
        write=write_run,
    ),
    "like": Field(
        label="Alike",
        read=parse_alike_key,
        allowed="what the link of a folded row says",
        example="like:0123456789abcdef",
        write=write_alike,
    ),
}


def parse_query(line: str) -> Query:
    return terms.parse_query(line, FIELDS)


def build_filter(query: Query, *, viewer: str) -> ReviewFilter:
    """What the terms mean for this person: open reviews, narrowed."""
    people = [viewer if each == ME else each for each in query.list_values("assignee")]
    labels = (term.values for term in query.terms if term.name == "label")
    return ReviewFilter(
        state=ReviewState.OPEN.value,
        kinds=list_once(query.list_values("kind")),
        severities=list_once(query.list_values("severity")),
        agents=list_once(query.list_values("agent")),
        labels=tuple(labels),
        runs=list_once(query.list_values("run")),
        assignees=list_once(people),
        claimed=_find_answer(query, "claimed"),
        overdue=_find_answer(query, "overdue"),
        alike_keys=list_once(query.list_values("like")),
        texts=list_once(query.list_values("")),
    )


def _find_answer(query: Query, name: str) -> bool | None:
    for each in query.list_values(name):
        return _YES_OR_NO[each]
    return None
