"""Reviews that the host has overtaken: its user answered, or the turn went on without.

The ledger says so. Only what the host was told to ask its user about, or hung up on, can
be taken back; a call that is held or denied waits for its person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from accounts.auth import AgentPrincipal
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.models import HookAnswer, HookCall
from gateway.use_cases.access import require_own_run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import ReviewNotOpen
from reviews.models import Kind, Review, ReviewState
from reviews.plan import end_review

AT_THE_TERMINAL = "Answered at the terminal"
WITHOUT_IT = "The agent's turn went on without it"


def _return_nothing(_entries: Sequence[SealedEntry]) -> None:
    return None


@dataclass(kw_only=True)
class WithdrawForHost(ChangeRequest[None]):
    agent: AgentPrincipal
    review_code: str
    reason: str

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        require_own_run(run, self.agent)
        review = run.open_review(self.review_code)
        # Past its time the clock ends it, and the run with it.
        if review is None or self.is_past(review.due_at, at):
            raise ReviewNotOpen("The review is closed.")
        plan = Plan(run, at)
        plan.add_entry(
            "review.withdrawn",
            actor=self.agent.actor,
            payload={"review": review.code, "reason": self.reason},
        )
        end_review(plan, review, ReviewState.WITHDRAWN)
        return plan.change(_return_nothing)


async def withdraw_review(
    hook: HookEvent, run: SessionRun, review: str, reason: str
) -> None:
    change_request = WithdrawForHost(
        agent=hook.agent, run_code=run.run, review_code=review, reason=reason
    )
    try:
        await get_writer().perform(change_request)
    except ReviewNotOpen:
        pass  # a person was faster, and their ruling stands


async def clear_calls(
    hook: HookEvent, run: SessionRun, *answers: HookAnswer, reason: str
) -> None:
    for review in await run_in_db_thread(partial(_list_open_calls, run, answers)):
        await withdraw_review(hook, run, review, reason)


async def clear_questions(hook: HookEvent, run: SessionRun) -> None:
    """Whoever writes at the terminal has answered what the agent asked."""
    for review in await run_in_db_thread(partial(_list_open_questions, run)):
        await withdraw_review(hook, run, review, AT_THE_TERMINAL)


def _list_open_calls(run: SessionRun, answers: Iterable[HookAnswer]) -> list[str]:
    uses = HookCall.objects.filter(
        session_id=run.session_id,
        answer__in=list(answers),
        call__run__code=run.run,
        call__review__state=ReviewState.OPEN,
    )
    codes = uses.values_list("call__review__code", flat=True).distinct()
    return [str(code) for code in codes]


def _list_open_questions(run: SessionRun) -> list[str]:
    open_ones = Review.objects.filter(
        run__code=run.run, kind=Kind.QUESTION, state=ReviewState.OPEN
    )
    return [str(code) for code in open_ones.values_list("code", flat=True)]
