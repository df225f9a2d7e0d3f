"""Send results of calls to the server: each once, none lost.

A result is kept before it is sent and dropped when the server has answered. One that got
no answer goes out with the next call, as the very same request. So does one whose answer
cannot be read, which a proxy may have written, but only once: it must not hold up the rest.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace

from checkrail.answers import Settled
from checkrail.errors import ProtocolError, Unreachable
from checkrail.flows.backlog import CallResult
from checkrail.flows.costs import compute_cost
from checkrail.flows.run_core import RunCore
from checkrail.problems import Problem
from checkrail.transport.effects import Acquire, Flow, encode_json
from checkrail.transport.retry import send_request

logger = logging.getLogger("checkrail")


def report_result(
    run: RunCore, result: CallResult, *, patience: float | None = None
) -> Flow[Settled]:
    """Send it, after what was kept before. After Unreachable it is kept itself."""
    if result not in run.backlog.results:
        run.backlog.results.append(result)
    result.awaited = True
    try:
        yield from send_results(run, patience=patience)
    finally:
        result.awaited = False
    if result.settled is None:
        raise result.refusal or ProtocolError("The result was not answered.")
    return result.settled


def send_results(run: RunCore, *, patience: float | None = None) -> Flow[None]:
    """Send what is kept, in order; a refusal is raised by whoever reported it, or by the
    run's next call."""
    backlog = run.backlog
    yield Acquire(backlog.lock)
    try:
        while backlog.results:
            result = backlog.results[0]
            try:
                yield from _add_cost(run, result, patience)
                result.settled = yield from send_request(
                    run.connection, Settled, result.request, patience=patience
                )
            except Unreachable:
                raise
            except Problem as refusal:
                result.refusal = refusal
                if not result.awaited:
                    backlog.errors.append(refusal)
            except ProtocolError as error:
                if not result.had_bad_answer:
                    result.had_bad_answer = True
                    raise
                result.refusal = error
                logger.error("The result of %s is dropped: %s", result.tool, error)
            backlog.results.popleft()
    finally:
        backlog.lock.release()


def _add_cost(run: RunCore, result: CallResult, patience: float | None) -> Flow[None]:
    """Once, before it is first sent: sent again it has to be the same request."""
    if not result.unpriced:
        return
    cost = yield from compute_cost(run, result.unpriced, patience=patience)
    if cost is not None:
        body = {**json.loads(result.request.body or b"{}"), "cost_usd": cost}
        result.request = replace(result.request, body=encode_json(body))
    result.unpriced = ()
