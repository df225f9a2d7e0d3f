"""Send a request until it is answered: what is tried again, and for how long.

Only requests that are safe to repeat are repeated. Whatever happens, the outcome is an
answer or an exception: an error is never taken for a permission.
"""

from __future__ import annotations

import logging
import math
import random

from checkrail.answers.parsing import A, parse_answer
from checkrail.errors import Unreachable
from checkrail.problems import IdempotencyInFlight, LimitReached
from checkrail.transport.connection import Connection, Outage
from checkrail.transport.effects import Callback, Flow, NoResponse, Request, Sleep
from checkrail.transport.responses import Response, parse_document, parse_problem

TOO_MANY = 429
# A request that arrived too slowly, too many of them, and what servers and proxies say
# while something restarts.
TEMPORARY_STATUSES = frozenset({408, TOO_MANY, 502, 503, 504})
SHORTEST_PAUSE, FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.1, 5.0
# A ruling may come at any moment: whoever waits for it comes back sooner.
LONGEST_PAUSE_WAITING = 2.0

logger = logging.getLogger("checkrail")


def send_request(
    connection: Connection,
    kind: type[A],
    request: Request,
    *,
    waiting: bool = False,
    patience: float | None = None,
) -> Flow[A]:
    """Return the answer as this class; raise a refusal as its Problem."""
    answer = yield from send_until_answered(
        connection, request, waiting=waiting, patience=patience
    )
    return parse_answer(kind, parse_document(connection, answer))


def send_until_answered(
    connection: Connection,
    request: Request,
    *,
    waiting: bool = False,
    patience: float | None = None,
) -> Flow[Response]:
    """The first answer that is not passing trouble, within the patience given, or the
    connection's own; the last try is at its very end."""
    if patience is None:
        patience = connection.get_patience(waiting=waiting)
    tries, since = 0, 0.0
    while True:
        answer, error = yield from _attempt(request)
        if answer is not None and not _is_temporary(answer):
            _report_return(connection)
            return answer
        now = connection.clock()
        since = since if tries else now
        tries += 1
        left = math.inf if patience is None else patience - (now - since)
        wanted = answer.retry_after if answer is not None else None
        over = left < SHORTEST_PAUSE or (wanted is not None and wanted > left)
        if over or not request.repeatable:
            raise _build_error(connection, request, answer, error, seconds=now - since)
        pause = min(left, _get_pause(tries, wanted, waiting=waiting))
        yield from _report_outage(
            connection,
            Outage(
                url=connection.base,
                error=_describe(answer, error),
                tries=tries,
                seconds=now - since,
                retry_in=pause,
            ),
            patience,
        )
        yield Sleep(pause)


def _attempt(request: Request) -> Flow[tuple[Response | None, NoResponse | None]]:
    try:
        answer: Response = yield request
    except NoResponse as error:
        return None, error
    return answer, None


def _is_temporary(answer: Response) -> bool:
    if answer.status == 409:
        return isinstance(parse_problem(answer), IdempotencyInFlight)
    if answer.status == 429:
        return not isinstance(parse_problem(answer), LimitReached)
    return answer.status in TEMPORARY_STATUSES


def _get_pause(tries: int, wanted: float | None, *, waiting: bool) -> float:
    """Longer each time, and random, so that not all clients come back at once."""
    longest = LONGEST_PAUSE_WAITING if waiting else LONGEST_PAUSE
    pause = min(longest, FIRST_PAUSE * 2.0 ** min(tries - 1, 10))
    if wanted is not None:
        return max(pause, wanted) * random.uniform(1.0, 1.1)  # noqa: S311
    return pause * random.uniform(0.5, 1.0)  # noqa: S311


def _report_outage(
    connection: Connection, outage: Outage, patience: float | None
) -> Flow[None]:
    # A long outage of many requests must not fill the log: it is told once.
    first = not connection.away_since and outage.error != f"status {TOO_MANY}"
    if first:
        connection.away_since.append(connection.clock() - outage.seconds)
    logger.log(
        logging.WARNING if first else logging.DEBUG,
        "%s does not answer (%s): the agent waits, and tries again %s",
        outage.url,
        outage.error,
        "until it does" if patience is None else f"for {_describe_time(patience)}",
    )
    if connection.on_offline is not None:
        yield Callback(connection.on_offline, outage)


def _report_return(connection: Connection) -> None:
    while connection.away_since:
        try:
            away = connection.clock() - connection.away_since.pop()
        except IndexError:  # another thread was faster
            return
        logger.warning(
            "%s answers again, after %s", connection.base, _describe_time(away)
        )


def _describe_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _describe(answer: Response | None, error: NoResponse | None) -> str:
    return str(error) if answer is None else f"status {answer.status}"


def _build_error(
    connection: Connection,
    request: Request,
    answer: Response | None,
    error: NoResponse | None,
    *,
    seconds: float,
) -> Exception:
    if answer is not None:
        return parse_problem(answer)
    what = f"{request.method} {request.path}"
    tried = (
        f"tried for {seconds:.0f} s"
        if request.repeatable
        else "not tried again: it may have been heard, and must not happen twice"
    )
    final = Unreachable(
        f"{connection.base} does not answer to {what} ({error}); {tried}."
    )
    final.__cause__ = error
    return final
