"""What receivers are told: events, read from the ledger's entries.

An entry is the outbox row: it is stored in the commit that it tells of. The same entry
always makes the same events with the same ids, whoever reads it and however often.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Q, QuerySet

from ledger.links import review_url, run_url
from ledger.models import Entry
from reviews.models import Review
from reviews.serializers import ruling_answer
from webhooks.texts import fitting, safe

TYPES = (
    "review.opened",
    "review.ruled",
    "review.expired",
    "run.paused",
    "run.stopped",
    "run.finished",
    "loop.event",
)
# Instead of the review's title, which shows the call: arguments stay in the house.
CALL_WAITS = "A tool call waits for a confirmation."
# Sent by hand, to any endpoint, whatever it listens to.
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
_TELLING = ("review.opened", "review.ruled", "review.expired", "loop.emitted")
TELLING = Q(type__in=[*_TELLING, *_RUN_ENDS]) | Q(type="step.judged", decision="stop")

_NAMESPACE = UUID("5a0b6c5e-6f0e-5d8e-9b1f-3f7b6f7f6d11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: UUID
    type: str
    at: datetime
    data: dict[str, Any]


def event_id(*, source: str, type: str) -> UUID:
    """The same for ever for the same source, which is an entry's hash or a code."""
    return uuid5(_NAMESPACE, f"{type}:{source}")


def events_of(entries: Sequence[Entry], *, slug: str) -> Iterator[Event]:
    """In the ledger's order. The entries come with their runs."""
    payloads = {entry.pk: json.loads(entry.payload) for entry in entries}
    codes = {payload.get("review") for payload in payloads.values()}
    reviews = {str(review.code): review for review in _reviews(_texts(codes))}
    for entry in entries:
        told = _told(entry, payloads[entry.pk], slug=slug, reviews=reviews)
        for type, data in told:
            yield Event(
                id=event_id(source=entry.hash, type=type),
                type=type,
                at=entry.at,
                data={"run": str(entry.run.code), **data},
            )


def _texts(values: set[Any]) -> list[str]:
    # A step's payload names its review as an object, the others by code.
    return [value for value in values if isinstance(value, str)]


def _reviews(codes: Sequence[str]) -> QuerySet[Review]:
    return (
        Review.objects.filter(code__in=codes)
        .select_related("ruling__by", "call__grant")
        .defer("content")
    )


def _told(
    entry: Entry,
    payload: Mapping[str, Any],
    *,
    slug: str,
    reviews: Mapping[str, Review],
) -> Iterator[tuple[str, dict[str, Any]]]:
    url = run_url(project_slug=slug, run=str(entry.run.code))
    match entry.type:
        case "review.opened":
            review = reviews[payload["review"]]
            opened = _review(review, slug, state="open", version=payload["version"])
            yield "review.opened", {"review": opened}
            # An action of the loop waits, its run does not.
            if review.kind != "loop_action" and not _waited_already(entry):
                why = CALL_WAITS if review.kind == "confirmation" else payload["title"]
                yield "run.paused", {**_run("paused", why, url), "review": opened}
        case "review.ruled":
            review = reviews[payload["review"]]
            version = payload["version"] + 1
            ruled = _review(review, slug, state="ruled", version=version)
            yield "review.ruled", {"review": ruled, "ruling": _ruling(review)}
        case "review.expired":
            review = reviews[payload["review"]]
            expired = _review(review, slug, state="expired", version=review.version)
            yield "review.expired", {"review": expired, "outcome": payload["outcome"]}
        case "loop.emitted":
            yield "loop.event", safe(payload["event"])
        case "step.judged":
            yield "run.stopped", _run("stopped", _why_stopped(payload), url)
        case "run.finished":
            summary = payload.get("summary", "")
            yield "run.finished", _run(payload["outcome"], summary, url)
        case ended:
            status = ended.removeprefix("run.")
            yield _RUN_ENDS[ended], _run(status, payload["reason"], url)


def _review(review: Review, slug: str, *, state: str, version: int) -> dict[str, Any]:
    code = str(review.code)
    return {
        "id": code,
        "kind": review.kind,
        "state": state,
        "version": version,
        "url": review_url(project_slug=slug, review=code),
    }


def _ruling(review: Review) -> dict[str, Any]:
    """As the agent gets it, but for an amended call, which holds its arguments."""
    ruling = ruling_answer(review)
    assert ruling is not None
    del ruling["amended"]
    return ruling | fitting(note=ruling["note"], answer=ruling["answer"])


def _run(status: str, reason: str, url: str) -> dict[str, Any]:
    return {"status": status, **fitting(status_reason=reason), "url": url}


def _why_stopped(payload: Mapping[str, Any]) -> str:
    findings = payload["verdict"]["findings"]
    words: str = next(
        each["message"] for each in findings if each["decision"] == "stop"
    )
    return words


def _waited_already(entry: Entry) -> bool:
    """Whether the run was paused before: calls may wait beside each other."""
    types = Entry.objects.filter(
        run_id=entry.run_id,
        seq__lt=entry.seq,
        type__in=["review.opened", *_REVIEW_ENDS],
    ).values_list("type", flat=True)
    opened = sum(1 if type == "review.opened" else -1 for type in types)
    return opened > 0
