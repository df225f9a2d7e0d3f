"""One request until it is answered: which trouble is tried again, and for how long.

Only requests that are safe to repeat are repeated. Whatever happens, the outcome is an
answer or an exception: no trouble is ever taken for a permission.
"""

from __future__ import annotations

import logging
import math
import random

from checkrail.answers.parsing import A, read
from checkrail.errors import Unreachable
from checkrail.problems import IdempotencyInFlight
from checkrail.transport.connection import Link, Outage
from checkrail.transport.effects import Flow, Request, Sleep, Tell, Unanswered
from checkrail.transport.responses import Answer, document_of, problem_of

# A request that arrived too slowly, too many of them, and what servers and proxies say
# while something restarts.
PASSING = frozenset({408, 429, 502, 503, 504})
SHORTEST_PAUSE, FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.1, 5.0
# A ruling may come at any moment: whoever waits for it comes back sooner.
LONGEST_PAUSE_WAITING = 2.0

logger = logging.getLogger("checkrail")


def ask(
    link: Link,
    kind: type[A],
    request: Request,
    *,
    waiting: bool = False,
    patience: float | None = None,
) -> Flow[A]:
    """The answer as this class; a refusal is raised as the Problem that it is."""
    answer = yield from exchange(link, request, waiting=waiting, patience=patience)
    return read(kind, document_of(link, answer))


def exchange(
    link: Link,
    request: Request,
    *,
    waiting: bool = False,
    patience: float | None = None,
) -> Flow[Answer]:
    """The first answer that is not passing trouble, within the patience given, or the
    link's own; the last try is at its very end."""
    if patience is None:
        patience = link.patience(waiting=waiting)
    tries, since = 0, 0.0
    while True:
        answer, error = yield from _attempt(request)
        if answer is not None and not _passing(answer):
            if tries:
                logger.info("%s answers again", link.base)
            return answer
        now = link.clock()
        since = since if tries else now
        tries += 1
        left = math.inf if patience is None else patience - (now - since)
        wanted = answer.retry_after if answer is not None else None
        over = left < SHORTEST_PAUSE or (wanted is not None and wanted > left)
        if over or not request.repeatable:
            raise _final(link, request, answer, error, seconds=now - since)
        pause = min(left, _pause(tries, wanted, waiting=waiting))
        yield from _tell(
            link,
            Outage(
                url=link.base,
                error=_words(answer, error),
                tries=tries,
                seconds=now - since,
                retry_in=pause,
            ),
        )
        yield Sleep(pause)


def _attempt(request: Request) -> Flow[tuple[Answer | None, Unanswered | None]]:
    try:
        answer: Answer = yield request
    except Unanswered as error:
        return None, error
    return answer, None


def _passing(answer: Answer) -> bool:
    if answer.status == 409:
        return isinstance(problem_of(answer), IdempotencyInFlight)
    return answer.status in PASSING


def _pause(tries: int, wanted: float | None, *, waiting: bool) -> float:
    """Longer each time, and not the same for everybody who was cut off at once."""
    longest = LONGEST_PAUSE_WAITING if waiting else LONGEST_PAUSE
    pause = min(longest, FIRST_PAUSE * 2.0 ** min(tries - 1, 10))
    if wanted is not None:
        return max(pause, wanted) * random.uniform(1.0, 1.1)  # noqa: S311
    return pause * random.uniform(0.5, 1.0)  # noqa: S311


def _tell(link: Link, outage: Outage) -> Flow[None]:
    # A long outage fills no log: the 1st, 2nd, 4th, 8th … try is told.
    rare = outage.tries & (outage.tries - 1) == 0
    logger.log(
        logging.WARNING if rare else logging.DEBUG,
        "%s does not answer (%s): trying again in %.1f s",
        outage.url,
        outage.error,
        outage.retry_in,
    )
    if link.on_offline is not None:
        yield Tell(link.on_offline, outage)


def _words(answer: Answer | None, error: Unanswered | None) -> str:
    return str(error) if answer is None else f"status {answer.status}"


def _final(
    link: Link,
    request: Request,
    answer: Answer | None,
    error: Unanswered | None,
    *,
    seconds: float,
) -> Exception:
    if answer is not None:
        return problem_of(answer)
    what = f"{request.method} {request.path}"
    tried = (
        f"tried for {seconds:.0f} s"
        if request.repeatable
        else "not tried again: it may have been heard, and must not happen twice"
    )
    final = Unreachable(f"{link.base} does not answer to {what} ({error}); {tried}.")
    final.__cause__ = error
    return final
