"""A call from the moment it was asked for to its result, one row for all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from console.format import format_elapsed, format_iso, format_seconds
from console.runs.sentences.calls import format_call
from ledger.models import Run
from reviews.models import GrantState, Review, ReviewState, Ruling, ToolCall
from safetext import make_visible_line

PAGE = 50
_JUDGED = {
    "allow": ("go", "allowed"),
    "warn": ("slow", "allowed with a warning"),
    "require-confirmation": ("pause", "held for a person"),
    "block": ("stop", "blocked"),
}
_RULED = {
    "approve": ("go", "approved"),
    "amend": ("go", "changed and approved"),
    "deny": ("stop", "denied"),
    "abort": ("stop", "run aborted"),
}
_CLOSED = {
    ReviewState.EXPIRED: "nobody ruled in time",
    ReviewState.SUPERSEDED: "closed with the run",
    ReviewState.WITHDRAWN: "withdrawn by the agent",
}
_UNUSED = {
    GrantState.REVOKED: "permission taken back",
    GrantState.EXPIRED: "not started in time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One thing that happened to a call; `note` is what a person said or how long it took."""

    word: str
    tone: str = ""
    note: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    code: str
    seq: int
    tool: str
    what: str
    url: str
    review_url: str
    stages: tuple[Stage, ...]


def list_calls(run: Run, *, before: int | None = None) -> list[ToolCall]:
    """The newest first, one more than a page."""
    calls = ToolCall.objects.filter(run=run).select_related(
        "grant", "review", "review__ruling", "review__ruling__by"
    )
    if before is not None:
        calls = calls.filter(pk__lt=before)
    return list(
        calls.defer("output", "facts", "review__content").order_by("-pk")[: PAGE + 1]
    )


def build_call_rows(calls: Sequence[ToolCall], *, run: Run, slug: str) -> list[CallRow]:
    """What was to be done stands in the entries, which one query reads."""
    entries = run.entries.filter(seq__in=[call.seq for call in calls])
    payloads = dict(entries.values_list("seq", "payload"))
    return [
        CallRow(
            code=str(call.code),
            seq=call.seq,
            tool=make_visible_line(call.tool),
            what=_read_what(payloads.get(call.seq, "{}")),
            url=reverse("console:run-entry", args=[slug, run.code, call.seq]),
            review_url=(
                reverse("console:review", args=[slug, call.review.code])
                if call.review
                else ""
            ),
            stages=tuple(_list_stages(call)),
        )
        for call in calls
    ]


def _read_what(payload: str) -> str:
    try:
        return format_call(json.loads(payload)["shown"])
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return ""


def _list_stages(call: ToolCall) -> Iterator[Stage]:
    tone, word = _JUDGED.get(call.decision, ("", call.decision))
    yield Stage(word="asked", at=format_iso(call.judged_at))
    yield Stage(word=word, tone=tone)
    if call.review is not None:
        yield _build_review_stage(call.review)
    grant = getattr(call, "grant", None)
    if grant is not None:
        if grant.state == GrantState.SPENT and grant.ended_at:
            yield Stage(word="started", at=format_iso(grant.ended_at))
        elif grant.state in _UNUSED:
            yield Stage(word=_UNUSED[grant.state], tone="slow")
        elif call.settled_at is None:
            yield Stage(word="may run, not started yet", tone="pause")
    if call.settled_at is not None:
        began = grant.ended_at if grant is not None and grant.ended_at else None
        yield Stage(
            word="done" if call.ok else "failed",
            tone="go" if call.ok else "stop",
            note=_describe_run_time(began, call.settled_at) if began else "",
            at=format_iso(call.settled_at),
        )


def _build_review_stage(review: Review) -> Stage:
    ruling: Ruling | None = getattr(review, "ruling", None)
    if ruling is not None:
        tone, word = _RULED.get(ruling.action, ("", ruling.action))
        name = make_visible_line(ruling.by.display_name)
        took = _describe_wait(review.opened_at, ruling.at)
        said = make_visible_line(ruling.note, limit=120)
        return Stage(
            word=f"{word} by {name}",
            tone=tone,
            note=f"{took}: “{said}”" if said else took,
            at=format_iso(ruling.at),
        )
    if review.state == ReviewState.OPEN:
        return Stage(word="waits for a person", tone="pause")
    return Stage(word=_CLOSED.get(ReviewState(review.state), review.state), tone="stop")


def _describe_run_time(since: datetime, until: datetime) -> str:
    return f"in {format_elapsed(round((until - since).total_seconds() * 1000))}"


def _describe_wait(since: datetime, until: datetime) -> str:
    return f"after {format_seconds((until - since).total_seconds())}"
