"""The agent waits for a person: one read, then the hub, then one read again."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from accounts.auth import (
    AgentPrincipal,
    PersonPrincipal,
    Principal,
    secret_stands,
)
from accounts.errors import Invalid, NotFound, Unauthenticated
from accounts.identifiers import parse_code
from accounts.selectors import role_in
from ledger.hub import hub
from ledger.models import Run
from ledger.reading import read
from ledger.replies import Reply, reply
from reviews.answers import ruling_shape

WAIT_MAX = 55
_RUN = ("code", "status", "head_seq")
_REVIEW = ("reviews__code", "reviews__kind", "reviews__version", "reviews__state")
_RULING = tuple(
    f"reviews__ruling__{name}"
    for name in ("code", "action", "note", "answer", "amended", "by__username", "at")
)
_GRANT = "reviews__call__grant__code"
QUERY = frozenset({"wait", "review"})


def wait_seconds(text: str | None) -> int:
    """`wait` of the query: 0 to 55 whole seconds."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        raise _bad_wait()
    seconds = int(text)
    if seconds > WAIT_MAX:
        raise _bad_wait()
    return seconds


def _bad_wait() -> Invalid:
    message = f"must be 0 to {WAIT_MAX} whole seconds"
    return Invalid(
        f"wait {message}.", errors=[{"loc": ["query", "wait"], "message": message}]
    )


async def decision_wait(
    *, principal: Principal, run_code: str, review_code: str | None, wait: float
) -> Reply:
    """Answers at once when there is an answer, else when one comes, else after wait."""
    run_id = await read(partial(_visible_run, principal, run_code))
    look = partial(_standing_for, principal, run_code, review_code)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    while True:
        # The waiter is taken before the read: what comes in between wakes it.
        news = hub().waiter(run_id)
        try:
            answer, head = await read(look)
            hub().seen(run_id, head)
            left = deadline - loop.time()
            if answer["state"] != "open" or left <= 0 or hub().closing:
                return reply(answer)
            await asyncio.wait([news], timeout=left)
        finally:
            news.cancel()


def _visible_run(principal: Principal, run_code: str) -> int:
    if not secret_stands(principal):
        raise Unauthenticated
    known = parse_code(run_code)
    run = (
        Run.objects.filter(code=known).values("pk", "agent_id", "project_id").first()
        if known
        else None
    )
    if run is None:
        raise NotFound
    match principal:
        case AgentPrincipal():
            if run["agent_id"] != principal.agent_id:
                raise NotFound
        case PersonPrincipal():
            role_in(user_id=principal.user_id, project_id=run["project_id"])
    pk: int = run["pk"]
    return pk


def _standing_for(
    principal: Principal, run_code: str, review_code: str | None
) -> tuple[dict[str, Any], int]:
    """Asked anew at every look: a key revoked meanwhile hears nothing more."""
    return _standing(_visible_run(principal, run_code), review_code)


def _standing(run_id: int, review_code: str | None) -> tuple[dict[str, Any], int]:
    """The answer as it stands, and the run's head at that moment.

    One query for the columns alone: it runs for every agent that comes or wakes.
    """
    runs = Run.objects.filter(pk=run_id).order_by("-reviews__id")
    if review_code is not None:
        known = parse_code(review_code)
        runs = runs.filter(reviews__code=known) if known else runs.none()
    row = runs.values(*_RUN, *_REVIEW, *_RULING, _GRANT).first()
    if row is None:
        raise NotFound
    answer = {
        "run": str(row["code"]),
        "run_status": row["status"],
        "state": row["reviews__state"] or "none",
        "review": {
            "id": str(row["reviews__code"]),
            "kind": row["reviews__kind"],
            "version": row["reviews__version"],
        }
        if row["reviews__code"]
        else None,
        "ruling": ruling_shape(*(row[name] for name in (*_RULING, _GRANT)))
        if row["reviews__ruling__code"]
        else None,
    }
    return answer, row["head_seq"]
