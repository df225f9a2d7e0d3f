"""The agent waits for a person: one read, then the hub, which brings what a ruling of
this process says; after any other wake-up one read again."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any
from uuid import UUID

from accounts.auth import (
    AgentPrincipal,
    PersonPrincipal,
    Principal,
    require_valid_secret,
)
from accounts.models import SYSTEM_SETTINGS
from accounts.selectors import get_role
from common.errors import Invalid, NotFound
from common.ids import parse_code
from common.responses import Reply, build_reply
from gateway.streams.followers import get_followers
from gateway.use_cases.agent_notes import deliver_with_decision
from gateway.use_cases.agent_waits import get_agent_waits
from ledger.models import OBSERVED, Run
from ledger.state import parse_lineage
from ledger.waiting.halts import RunFacts
from ledger.waiting.hub import get_hub
from ledger.writer import Committed
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.halts import Halted
from reviews.open_access import KeyAccess
from reviews.rulings.decision_query import get_decision_state, is_key_valid
from reviews.rulings.notice import DecisionState

WAIT_MAX = 55
QUERY = frozenset({"wait", "review"})
# A run that is over says so, halted or not.
OPEN = frozenset({"running", "paused"})


def wait_seconds(text: str | None) -> int:
    """`wait` of the query: 0 to 55 whole seconds."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        raise _build_wait_error()
    seconds = int(text)
    if seconds > WAIT_MAX:
        raise _build_wait_error()
    return seconds


def _build_wait_error() -> Invalid:
    message = f"must be 0 to {WAIT_MAX} whole seconds"
    return Invalid(
        f"wait {message}.", errors=[{"loc": ["query", "wait"], "message": message}]
    )


async def await_decision(
    *,
    principal: Principal,
    run_code: str,
    review_code: str | None,
    wait: float,
    carries_notes: bool = True,
) -> Reply:
    """Answers at once when there is an answer, else when one comes, else after wait.

    An agent whose run is halted while it waits is told at once. One that comes while it is
    halted waits for the release, up to its time, and is then told. `carries_notes` is False
    where the answer has no place for what people wrote.
    """
    facts = await run_in_db_thread(partial(_get_visible_run, principal, run_code))
    run_id, project_id = facts.id, facts.project_id
    # Who may look no longer is woken, looks again, and is refused.
    reader = KeyAccess(principal=principal, project_id=project_id)
    look = partial(_get_state, principal, run_id, run_code, review_code)
    # A person's look is several queries: they are not done on the writer's thread.
    agent = isinstance(principal, AgentPrincipal)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    parked = False
    told = principal if carries_notes and agent else None
    reply = partial(_build_reply, told, run_id, run_code)
    while True:
        halt = (await get_hub().halts.get(project_id)).find(facts) if agent else None
        if halt is not None and parked:
            raise Halted.from_halt(halt)
        # The waiter is taken before the read: what comes in between wakes it.
        wake_up = get_hub().add_waiter(run_id, look if agent else None)
        if agent:
            held = halt is not None
            get_hub().wake_when_held_otherwise(wake_up, facts, held=held)
        try:
            found = await run_in_db_thread(partial(look, None))
            answer = found.answer
            get_hub().note_head(run_id, found.head_seq)
            left = deadline - loop.time()
            over = left <= 0 or get_hub().closing
            if halt is not None and answer["run_status"] in OPEN:
                if over:
                    raise Halted.from_halt(halt)
            elif answer["state"] != "open" or over:
                return await reply(found)
            parked = halt is None
            with (
                _show_waiting(principal, answer),
                get_followers().watch(reader) as waiting,
            ):
                came = await waiting.wait_for(wake_up, seconds=left)
            answered = wake_up.result() if came else None
            # One that is still open may have changed again: that takes a new waiter.
            if (
                halt is None
                and answered is not None
                and answered.answer["state"] != "open"
            ):
                return await reply(answered)
        finally:
            wake_up.cancel()


async def _build_reply(
    told: Principal | None, run_id: int, run_code: str, found: DecisionState
) -> Reply:
    """With what people wrote to the agent, once there is a decision that it acts on."""
    answer = found.answer
    review, decided = answer["review"], answer["state"] not in {"none", "open"}
    if found.has_notes and decided and isinstance(told, AgentPrincipal):
        notes = await deliver_with_decision(
            agent=told, run_id=run_id, run_code=run_code, review=review["id"]
        )
        answer = {**answer, "notes": notes}
    return build_reply(answer)


def _show_waiting(
    principal: Principal, answer: dict[str, Any]
) -> AbstractContextManager[None]:
    """Reviewers are answered that an agent waits; a person who looks on is none."""
    if isinstance(principal, AgentPrincipal) and answer["review"] is not None:
        return get_agent_waits().wait_for(UUID(answer["review"]["id"]))
    return nullcontext()


def _get_visible_run(principal: Principal, run_code: str) -> RunFacts:
    """What never changes of the run."""
    require_valid_secret(principal)
    known = parse_code(run_code)
    run = (
        Run.objects.filter(code=known)
        .values("pk", "agent_id", "project_id", "intent", "labels", "lineage")
        .first()
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
            role = get_role(user_id=principal.user_id, project_id=run["project_id"])
            if run["intent"] == SYSTEM_SETTINGS and not role.sees_all:
                raise NotFound
    name, value = OBSERVED
    return RunFacts(
        id=run["pk"],
        project_id=run["project_id"],
        agent_id=run["agent_id"],
        labels=run["labels"],
        ancestors=parse_lineage(run["lineage"]),
        observed=run["labels"].get(name) == value,
    )


def _get_state(
    principal: Principal,
    run_id: int,
    run_code: str,
    review_code: str | None,
    wake_up: Committed | None,
) -> DecisionState:
    """Asked anew at every look: a key revoked meanwhile hears nothing more."""
    if isinstance(principal, AgentPrincipal):
        known = wake_up.waiter_answer if wake_up is not None else None
        if wake_up is not None and known is not None and known.subject == review_code:
            # All is known but whether this key is still valid, and often that too.
            valid = principal.key_id in wake_up.valid_key_ids
            if not valid and not is_key_valid(principal.key_id):
                require_valid_secret(principal)
            return DecisionState(known.body, known.head_seq, known.has_notes)
        # Whose run it is does not change: only the key has to be looked at.
        found = get_decision_state(run_id, review_code, key_id=principal.key_id)
        if found is not None:
            return found
    _get_visible_run(principal, run_code)
    found = get_decision_state(run_id, review_code)
    if found is None:
        raise NotFound
    return found
