"""Quality gates put to a step, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from accounts.auth import AgentPrincipal
from common.errors import Invalid, NotFound
from common.ids import parse_code
from common.long_work import run_long
from common.responses import Reply, build_reply
from gateway.llm.recording import record_judgement
from gateway.schemas.checks import GateCheckIn, VerdictIn
from gateway.use_cases.access import (
    get_policy_of_run,
)
from gateway.use_cases.checks.evidence import gather_evidence
from gateway.use_cases.checks.requests import OpenCheck, TakeVerdict, build_check_state
from gateway.use_cases.checks.verdicts import parse_verdict
from gateway.use_cases.review_links import build_review_reference
from guidance.core.checks import (
    Refused,
    choose_gates,
)
from ledger.idempotency import Idempotency, get_earlier_answer
from ledger.models import RunStatus
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.checks import build_gates, load_check_state, open_warnings
from reviews.models import GateCheck, ReviewState


async def submit_gate_check(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: GateCheckIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    policy = await run_in_db_thread(partial(get_policy_of_run, agent, run_code))
    try:
        gates = choose_gates(
            named=body.gates, inline=body.inline, policy=policy.policy.gates
        )
    except Refused as refused:
        raise build_invalid(refused.errors) from None
    return await get_writer().perform(
        OpenCheck(
            agent=agent,
            run_code=run_code,
            policy=policy,
            gates=gates,
            step=body.step,
            idempotency=idempotency,
        )
    )


async def submit_verdict(
    *,
    agent: AgentPrincipal,
    run_code: str,
    check_code: str,
    body: VerdictIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    check = await run_in_db_thread(partial(_get_own_check, agent, run_code, check_code))
    if idempotency is not None:
        # Before the judge is asked: a request that is sent again costs nothing.
        earlier: Reply | None = await run_in_db_thread(
            partial(get_earlier_answer, idempotency)
        )
        if earlier is not None:
            return earlier
    gates = build_gates(check)
    # A long text must not hold up others while it is read.
    verdict = await run_long(parse_verdict, body, gates=gates)
    try:
        evidence = await gather_evidence(
            body,
            verdict=verdict,
            gates=gates,
            takes_it=_takes_verdicts(check),
            record=partial(record_judgement, agent, run_code, str(check.code)),
        )
    except Refused as refused:
        raise build_invalid(refused.errors) from None
    return await get_writer().perform(
        TakeVerdict(
            agent=agent,
            run_code=run_code,
            check_code=str(check.code),
            verdict=verdict,
            evidence=evidence,
            idempotency=idempotency,
        )
    )


def get_check_standing(agent: AgentPrincipal, run_code: str, check_code: str) -> Reply:
    """A check with the prompt for its next attempt, a reviewer's guidance included."""
    check = _get_own_check(agent, run_code, check_code)
    gates, state = build_gates(check), load_check_state(check)
    return build_reply(
        {
            "id": str(check.code),
            "run": run_code,
            "step": check.step,
            **build_check_state(gates, state),
            "guidance": state.guidance or None,
            "advisory_warnings": open_warnings(check.run_id),
            "review": build_review_reference(
                _get_awaited_review(check), project_slug=agent.project_slug
            ),
        }
    )


def _get_awaited_review(check: GateCheck) -> dict[str, str] | None:
    """The review that decides on an exhausted check.

    A ruled one gave it further attempts: those failed too, and nobody could be asked.
    """
    review = check.review if check.status == "exhausted" else None
    if review is None or review.state == ReviewState.RULED:
        return None
    return {"id": str(review.code), "kind": "exhausted"}


def _takes_verdicts(check: GateCheck) -> bool:
    return check.status == "open" and check.run.status == RunStatus.RUNNING


def _get_own_check(agent: AgentPrincipal, run_code: str, check_code: str) -> GateCheck:
    known, of_run = parse_code(check_code), parse_code(run_code)
    if known is None or of_run is None:
        raise NotFound
    checks = GateCheck.objects.select_related("run")
    check = checks.filter(
        code=known, run__code=of_run, run__agent_id=agent.agent_id
    ).first()
    if check is None:
        raise NotFound
    return check


def build_invalid(errors: Sequence[tuple[str, str]]) -> Invalid:
    first = errors[0]
    return Invalid(
        f"{first[0]}: {first[1]}.",
        errors=[{"loc": path.split("."), "message": why} for path, why in errors],
    )
