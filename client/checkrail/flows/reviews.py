"""Questions and requests of the agent to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkrail.answers import Review, ReviewRef, Ruling
from checkrail.errors import ProtocolError
from checkrail.flows.rulings import get_deadline, send_when_running, wait_for_ruling
from checkrail.flows.run_core import AnyReview, RunCore, build_reference
from checkrail.flows.steps import catch_up
from checkrail.outcomes import Denied
from checkrail.transport.effects import Flow, Request, drop_unset, post, quote_part
from checkrail.transport.retry import send_request as send

# What an agent asks in its own words, and may take back.
OWN_KINDS = frozenset({"question", "request", "plan"})


def ask(
    run: RunCore,
    title: str,
    *,
    detail: str = "",
    options: Sequence[str] = (),
    timeout: float | None = None,
) -> Flow[str]:
    """Ask a question and wait for the answer; the run is paused meanwhile."""
    _, ruling = yield from _ask_and_wait(
        run, "question", title, detail, options, timeout
    )
    if ruling.answer is None:
        raise ProtocolError("The question was ruled on, but no answer came.")
    return ruling.answer


def request_approval(
    run: RunCore,
    title: str,
    *,
    detail: str = "",
    options: Sequence[str] = (),
    timeout: float | None = None,
) -> Flow[Ruling]:
    """Ask for an approval and wait for it; raises Denied."""
    review, ruling = yield from _ask_and_wait(
        run, "request", title, detail, options, timeout
    )
    if ruling.action == "deny":
        raise Denied(build_reference(review), ruling)
    return ruling


def submit_plan(
    run: RunCore,
    title: str,
    *,
    steps: Sequence[Mapping[str, Any]],
    limits: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Flow[Ruling]:
    """Ask once for many calls and wait for the ruling; raises Denied.

    `amended` of the ruling is the plan as it was approved, None if nothing was changed.
    """
    until = get_deadline(run, timeout)
    yield from catch_up(run, until)
    body = {"title": title, "steps": [dict(step) for step in steps]}
    asked = drop_unset(limits=None if limits is None else dict(limits))
    request = post(run.build_path("plans"), {**body, **asked})
    review = yield from send_when_running(run, Review, request, until)
    ruling = yield from wait_for_ruling(run, build_reference(review), until)
    if ruling.action == "deny":
        raise Denied(build_reference(review), ruling)
    return ruling


def _ask_and_wait(
    run: RunCore,
    kind: str,
    title: str,
    detail: str,
    options: Sequence[str],
    timeout: float | None,
) -> Flow[tuple[Review, Ruling]]:
    until = get_deadline(run, timeout)
    yield from catch_up(run, until)
    request = _build_review_request(run, kind, title, detail, options)
    review = yield from send_when_running(run, Review, request, until)
    return review, (yield from wait_for_ruling(run, build_reference(review), until))


def open_review(
    run: RunCore,
    kind: str,
    title: str,
    *,
    detail: str = "",
    options: Sequence[str] = (),
) -> Flow[Review]:
    """Ask a person a `question` or for a `request`, without waiting."""
    return (
        yield from send(
            run.connection,
            Review,
            _build_review_request(run, kind, title, detail, options),
        )
    )


def _build_review_request(
    run: RunCore, kind: str, title: str, detail: str, options: Sequence[str]
) -> Request:
    asked = drop_unset(detail=detail, options=list(options) or None)
    return post(run.build_path("reviews"), {"kind": kind, "title": title, **asked})


def withdraw(run: RunCore, review: AnyReview) -> Flow[Review]:
    """Take a question or a request back; the run goes on."""
    return (
        yield from send(
            run.connection, Review, build_withdraw_request(build_reference(review))
        )
    )


def build_withdraw_request(review: ReviewRef) -> Request:
    return post(f"/reviews/{quote_part(review.id)}/withdraw", {})
