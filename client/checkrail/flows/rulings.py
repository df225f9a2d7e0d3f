"""Wait for a person, through restarts of the server and network failures."""

from __future__ import annotations

import logging
import math

from checkrail.answers import ReviewRef, Ruling, Standing
from checkrail.answers.parsing import A
from checkrail.errors import ProtocolError, Unreachable
from checkrail.flows.run_core import AnyReview, RunCore, build_reference
from checkrail.outcomes import Aborted, Expired, StillWaiting, Superseded, Withdrawn
from checkrail.problems import Halted, RunClosed, RunPaused
from checkrail.transport.effects import Callback, Flow, Request, Sleep, get
from checkrail.transport.retry import send_request

# Below the time after which proxies usually cut a silent connection.
POLL_SECONDS = 25
# How much later than promised an answer may come.
GRACE_SECONDS = 15.0
# A server that shuts down answers `open` at once: it must not be asked in a circle.
SHORTEST_POLL = 0.2

RULINGS = {
    "pause": {"approve", "abort"},
    "exhausted": {"retry", "skip", "abort"},
    "confirmation": {"approve", "amend", "deny", "abort"},
    "question": {"answer", "abort"},
    "request": {"approve", "deny", "abort"},
    "plan": {"approve", "amend", "deny", "abort"},
}

logger = logging.getLogger("checkrail")


def get_deadline(run: RunCore, timeout: float | None) -> float:
    return math.inf if timeout is None else run.connection.clock() + timeout


def standing(
    run: RunCore, review: AnyReview | None = None, *, wait: int = 0
) -> Flow[Standing]:
    """How a review stands, the newest if none is named; asked once."""
    return (
        yield from _poll(run, None if review is None else build_reference(review), wait)
    )


def wait(
    run: RunCore, review: AnyReview, *, timeout: float | None = None
) -> Flow[Ruling]:
    """Wait for the ruling. Raises Aborted, Expired, Superseded, Withdrawn, StillWaiting."""
    return (
        yield from wait_for_ruling(
            run, build_reference(review), get_deadline(run, timeout)
        )
    )


def wait_for_ruling(run: RunCore, review: ReviewRef, until: float) -> Flow[Ruling]:
    """Wait for a person's ruling; every other end raises."""
    logger.info("Waiting for a person: %s %s", review.kind, review.url)
    if run.on_wait is not None:
        yield Callback(run.on_wait, review)
    while True:
        began = run.connection.clock()
        # Whole seconds; what is left in the end is slept.
        seconds = int(max(0, min(POLL_SECONDS, until - began)))
        try:
            stands = yield from _poll_until(run, review, seconds, until)
        except Halted as halted:
            yield from wait_for_release(run, halted, until)
            continue
        if stands.state != "open":
            return _get_ruling(run, stands, review)
        now = run.connection.clock()
        if now >= until:
            raise StillWaiting(review)
        if now - began < SHORTEST_POLL:
            yield Sleep(min(SHORTEST_POLL, until - now))


def _poll_until(
    run: RunCore, review: ReviewRef, seconds: int, until: float
) -> Flow[Standing]:
    """Poll once; an outage may not last longer than the caller wants to wait."""
    left = max(0.0, until - run.connection.clock())
    patience = run.connection.get_patience(waiting=True)
    longest = math.inf if patience is None else patience
    try:
        return (yield from _poll(run, review, seconds, min(left, longest)))
    except Unreachable as error:
        if left < longest:
            raise StillWaiting(review) from error
        raise


def _poll(
    run: RunCore,
    review: ReviewRef | None,
    seconds: int,
    patience: float | None = None,
) -> Flow[Standing]:
    query = {"wait": str(seconds)}
    if review is not None:
        query["review"] = review.id
    request = get(
        run.build_path("decision"), query, read_seconds=seconds + GRACE_SECONDS
    )
    began = run.connection.clock()
    try:
        stands = yield from send_request(
            run.connection, Standing, request, waiting=True, patience=patience
        )
    finally:
        run.timer.exclude(run.connection.clock() - began)
    found = stands.review.id if stands.review else None
    if review is not None and found != review.id:
        raise ProtocolError(
            f"Asked about review {review.id}, got an answer about {found}."
        )
    run.store_notes(stands.notes)
    return stands


def _get_ruling(run: RunCore, stands: Standing, review: ReviewRef) -> Ruling:
    if stands.state == "expired":
        run.ended = True
        raise Expired(review)
    if stands.state == "superseded":
        run.ended = True
        raise Superseded(review)
    if stands.state == "withdrawn":
        raise Withdrawn(review)
    ruling = stands.ruling
    if stands.state != "ruled" or ruling is None or stands.review is None:
        raise ProtocolError(f"Review {review.id} is {stands.state}, without a ruling.")
    known = RULINGS.get(stands.review.kind, set())
    if ruling.action not in known:
        raise ProtocolError(
            f"{ruling.action!r} is no ruling on a {stands.review.kind} that is known."
        )
    run.store_ruling(stands.review.kind, ruling)
    if ruling.action == "abort":
        run.ended = True
        raise Aborted(review, ruling)
    return ruling


def wait_for_review(run: RunCore, review: ReviewRef, until: float) -> Flow[None]:
    """Wait until the run goes on, whatever was ruled on somebody else's review."""
    try:
        yield from wait_for_ruling(run, review, until)
    except Withdrawn:
        logger.info("The %s was withdrawn, the run goes on", review.kind)


def wait_for_release(run: RunCore, halted: Halted, until: float) -> Flow[None]:
    """Wait until nothing halts the run any more: the server holds each look. Raises Halted
    when the time is over."""
    logger.info("Halted by %s: %s", halted.by, halted.reason)
    while True:
        began = run.connection.clock()
        if began >= until:
            raise halted
        seconds = int(max(0, min(POLL_SECONDS, until - began)))
        try:
            yield from _poll(run, None, seconds)
        except Halted as still:
            halted = still
        else:
            return
        if run.connection.clock() - began < SHORTEST_POLL:
            yield Sleep(SHORTEST_POLL)


def send_when_running(
    run: RunCore, kind: type[A], request: Request, until: float
) -> Flow[A]:
    """The answer to a request that a paused or halted run refuses: that is waited for."""
    seen = ""
    while True:
        try:
            return (yield from send_request(run.connection, kind, request))
        except RunClosed:
            run.ended = True
            raise
        except Halted as halted:
            yield from wait_for_release(run, halted, until)
            continue
        except RunPaused as paused:
            if paused.review is None:
                raise
            review = paused.review
        if review.id == seen:
            yield Sleep(SHORTEST_POLL)
        seen = review.id
        yield from wait_for_review(run, review, until)
