"""People who act while an agent waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from checkrail import Review
from checkrail.people import Desk

from ledger.models import Run
from ledger.waiting.hub import count_waiting
from tests.support.threads import Threads
from tests.support.waiting import until

Act = Callable[[Desk, Review], object]


@contextmanager
def somebody(desk: Desk, run: str, *acts: Act) -> Iterator[list[Review]]:
    """One act for each review of the run, once the agent is parked at it."""
    seen: list[Review] = []
    with Threads(1) as pool:
        acting = pool.submit(_act, desk, run, acts, seen)
        yield seen
        acting.result(timeout=60)


def _act(desk: Desk, run: str, acts: tuple[Act, ...], seen: list[Review]) -> None:
    try:
        for act in acts:
            seen.append(_next(desk, run, seen))
            act(desk, seen[-1])
    except BaseException:
        desk.abort_run(run)  # else the agent, and with it the test, waits for ever
        raise


def _next(desk: Desk, run: str, seen: list[Review]) -> Review:
    """The review that the agent waits at."""
    known = {review.id for review in seen}
    found: list[Review] = []

    def waits() -> bool:
        found[:] = [r for r in desk.reviews(run=run) if r.id not in known]
        return bool(found) and count_parked(run) > 0

    until(waits)
    return found[0]


def count_parked(run: str) -> int:
    """How many long-polls of this run wait in this process."""
    run_id = Run.objects.values_list("pk", flat=True).get(code=run)
    return count_waiting(run_id)


def approve(desk: Desk, review: Review) -> Review:
    return desk.approve(review, note="Go on.")


def abort(desk: Desk, review: Review) -> Review:
    return desk.abort(review, note="Enough.")


def deny(desk: Desk, review: Review) -> Review:
    return desk.deny(review, note="Not today.")
