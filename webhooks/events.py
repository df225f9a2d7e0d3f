"""Events for receivers, built from the ledger's entries.

An entry serves as the outbox row: it is stored in the commit that it describes. The same
entry always gives the same events with the same ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID, uuid5

from django.db.models import Q, QuerySet

from ledger.models import Entry
from ledger.serializers import build_review_url, build_run_url
from reviews.models import Review
from reviews.serializers import build_ruling_answer
from webhooks.payloads import fit_texts, make_safe

EventType = Literal[
    "review.opened",
    "review.ruled",
    "review.expired",
    "run.paused",
    "run.stopped",
    "run.finished",
    "loop.event",
    "halt.started",
    "halt.released",
]
TYPES: tuple[EventType, ...] = get_args(EventType)
# Instead of the review's title, which shows the call: arguments do not leave the server.
CALL_WAITS = "A tool call waits for a confirmation."
# Sent on request to one endpoint, whatever types it subscribed to.
TEST_TYPE = "webhook.test"

_REVIEW_ENDS = (
    "review.ruled",
    "review.expired",
    "review.superseded",
    "review.withdrawn",
)
_RUN_ENDS = {
    "run.stopped": "run.stopped",
    "run.finished": "run.finished",
    "run.aborted": "run.finished",
    "run.abandoned": "run.finished",
}
_HALTS = ("halt.started", "halt.released")
_REVIEW_EVENTS = ("review.opened", "review.ruled", "review.expired")
_STOPS = Q(type="step.judged", decision="stop")
Describe = Callable[[Mapping[str, Any]], dict[str, Any]]
# By the type of the entry: the type of its event, and what the event says.
_registered: dict[str, tuple[str, Describe]] = {}


def register_event(entry_type: str, event_type: str, describe: Describe) -> None:
    """For apps above this one, at start-up: their entry becomes this event of TYPES.

    `describe` gets the payload of the entry; what it returns is made safe to send.
    """
    assert event_type in TYPES
    _registered[entry_type] = (event_type, describe)


def filter_event_entries() -> Q:
    """The entries that become events."""
    return Q(type__in=[*_REVIEW_EVENTS, *_RUN_ENDS, *_HALTS, *_registered]) | _STOPS


_NAMESPACE = UUID("5a0b6c5e-6f0e-5d8e-9b1f-3f7b6f7f6d11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: UUID
    type: str
    at: datetime
    data: dict[str, Any]


def build_event_id(*, source: str, type: str) -> UUID:
    """The same id for the same source, which is an entry's hash or an id of ours."""
    return uuid5(_NAMESPACE, f"{type}:{source}")


def build_events(entries: Sequence[Entry], *, slug: str) -> Iterator[Event]:
    """Events in the order of the entries, whose runs must be loaded."""
    payloads = {entry.pk: json.loads(entry.payload) for entry in entries}
    codes = {payload.get("review") for payload in payloads.values()}
    reviews = {
        str(review.code): review for review in _list_reviews(_filter_texts(codes))
    }
    for entry in entries:
        described = _describe_entry(
            entry, payloads[entry.pk], slug=slug, reviews=reviews
        )
        for type, data in described:
            yield Event(
                id=build_event_id(source=entry.hash, type=type),
                type=type,
                at=entry.at,
                data={"run": str(entry.run.code), **data},
            )


def _filter_texts(values: set[Any]) -> list[str]:
    # A step's payload names its review as an object, the others by code.
    return [value for value in values if isinstance(value, str)]


def _list_reviews(codes: Sequence[str]) -> QuerySet[Review]:
    return (
        Review.objects.filter(code__in=codes)
        .select_related("ruling__by", "ruling__fact", "call__grant")
        .defer("content")
    )


def _describe_entry(
    entry: Entry,
    payload: Mapping[str, Any],
    *,
    slug: str,
    reviews: Mapping[str, Review],
) -> Iterator[tuple[str, dict[str, Any]]]:
    url = build_run_url(project_slug=slug, run=str(entry.run.code))
    match entry.type:
        case "review.opened":
            review = reviews[payload["review"]]
            opened = _describe_review(
                review, slug, state="open", version=payload["version"]
            )
            yield "review.opened", {"review": opened}
            # What is asked in a chain of the server's own does not pause its run.
            asked = review.kind in {"loop_action", "policy_change"}
            if not asked and not _was_already_paused(entry):
                why = CALL_WAITS if review.kind == "confirmation" else payload["title"]
                yield (
                    "run.paused",
                    {**_describe_run("paused", why, url), "review": opened},
                )
        case "review.ruled":
            review = reviews[payload["review"]]
            version = payload["version"] + 1
            ruled = _describe_review(review, slug, state="ruled", version=version)
            yield "review.ruled", {"review": ruled, "ruling": _describe_ruling(review)}
        case "review.expired":
            review = reviews[payload["review"]]
            expired = _describe_review(
                review, slug, state="expired", version=review.version
            )
            yield "review.expired", {"review": expired, "outcome": payload["outcome"]}
        case registered if registered in _registered:
            type, describe = _registered[registered]
            yield type, make_safe(describe(payload))
        case halted if halted in _HALTS:
            yield halted, _describe_halt(payload)
        case "step.judged":
            yield (
                "run.stopped",
                _describe_run("stopped", _get_stop_reason(payload), url),
            )
        case "run.finished":
            yield "run.finished", _describe_ending(payload, url)
        case ended:
            status = ended.removeprefix("run.")
            yield _RUN_ENDS[ended], _describe_run(status, payload["reason"], url)


def _describe_review(
    review: Review, slug: str, *, state: str, version: int
) -> dict[str, Any]:
    code = str(review.code)
    return {
        "id": code,
        "kind": review.kind,
        "state": state,
        "version": version,
        "url": build_review_url(project_slug=slug, review=code),
    }


def _describe_ruling(review: Review) -> dict[str, Any]:
    """The ruling as the agent gets it, without an amended call and its arguments."""
    ruling = build_ruling_answer(review)
    assert ruling is not None
    del ruling["amended"]
    fact = review.ruling.fact
    ruling |= {"waited_ms": fact.took_ms, "read_ms": fact.read_ms}
    return ruling | fit_texts(note=ruling["note"], answer=ruling["answer"])


def _describe_halt(payload: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: payload[name] for name in ("halt", "by")}
    scope = make_safe(payload["scope"])
    return {**said, "scope": scope, **fit_texts(reason=payload["reason"])}


def _describe_run(status: str, reason: str, url: str) -> dict[str, Any]:
    return {"status": status, **fit_texts(status_reason=reason), "url": url}


def _describe_ending(payload: Mapping[str, Any], url: str) -> dict[str, Any]:
    """As the run was judged; before runs were judged, as its agent said."""
    status = payload.get("status", payload["outcome"])
    reason = payload.get("reason", payload.get("summary", ""))
    names = ("name", "passed", "score", "source", "message")
    evaluations = [
        {name: each.get(name) for name in names}
        for each in payload.get("evaluations", ())
    ]
    return {
        **_describe_run(status, reason, url),
        "accepted": payload.get("accepted"),
        "evaluations": make_safe(evaluations),
    }


def _get_stop_reason(payload: Mapping[str, Any]) -> str:
    findings = payload["verdict"]["findings"]
    words: str = next(
        each["message"] for each in findings if each["decision"] == "stop"
    )
    return words


def _was_already_paused(entry: Entry) -> bool:
    """Whether another review had paused the run: several calls may wait at once."""
    types = Entry.objects.filter(
        run_id=entry.run_id,
        seq__lt=entry.seq,
        type__in=["review.opened", *_REVIEW_ENDS],
    ).values_list("type", flat=True)
    opened = sum(1 if type == "review.opened" else -1 for type in types)
    return opened > 0
