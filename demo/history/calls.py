"""Calls and checks of a past run: judged, asked about, made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from demo.agents.profile import Call, Check
from gateway.schemas.calls import ResultIn
from gateway.schemas.checks import VerdictIn
from gateway.use_cases.call_requests import JudgeCall
from gateway.use_cases.checks.requests import OpenCheck, TakeVerdict
from gateway.use_cases.checks.verdicts import parse_verdict
from gateway.use_cases.claims import RedeemGrant, SettleCall
from gateway.use_cases.tool_calls import build_checked_call
from guidance.core.checks import choose_gates
from guidance.core.secrets import redact
from guidance.core.tools.judge_call import judge_call
from guidance.redactor import get_fingerprint_key
from guidance.selectors import LoadedPolicy
from reviews.models import GateCheck, Grant
from reviews.schemas.calls import ToolCallIn

if TYPE_CHECKING:
    from demo.history.run import PastRun

_CALLS: TypeAdapter[ToolCallIn] = TypeAdapter(ToolCallIn)
# One in so many calls that ran came to nothing.
FAILED_SHARE = 0.04


def make_call(run: PastRun, call: Call, *, policy: LoadedPolicy) -> Iterator[datetime]:
    """Ask, and make the call if it is let through."""
    verdict = judge_call(
        rules=policy.policy.tools,
        call=_CALLS.validate_python(call.body).build_call(),
        fingerprint_key=get_fingerprint_key(),
    )
    checked = build_checked_call(verdict, policy=policy, run_code=run.run_code)
    asked = JudgeCall(agent=run.agent, run_code=run.run_code, checked=checked)
    judged = run.send(asked)
    granted = judged["grant"] is not None
    if judged["review"] is not None:
        yield from run.wait_for_ruling(judged["review"]["id"])
        grants = Grant.objects.filter(call__code=judged["id"], state="issued")
        granted = grants.exists()
    if not granted or not run.goes_on:
        return
    names = {"agent": run.agent, "run_code": run.run_code, "call_code": judged["id"]}
    run.writer.perform_unanswered(RedeemGrant(digest=checked.digest, **names))
    began = run.writer.at
    yield run.draw_pause()
    spent = run.writer.at - began
    ran = run.chance.random() >= FAILED_SHARE
    body = ResultIn(
        ok=ran,
        output=call.output if ran else "It ended with status 1.",
        duration_ms=int(spent.total_seconds() * 1000),
    )
    output = redact(body.output, fingerprint_key=get_fingerprint_key())
    run.writer.perform_unanswered(SettleCall(body=body, output=output, **names))


def make_check(
    run: PastRun, check: Check, *, policy: LoadedPolicy, step: int
) -> Iterator[datetime]:
    """Verdict by verdict, until it passes or a person says how it goes on."""
    gates = choose_gates(named=list(check.gates), inline=[], policy=policy.policy.gates)
    opened = OpenCheck(
        agent=run.agent,
        run_code=run.run_code,
        policy=policy,
        gates=gates,
        step=step,
    )
    code = run.send(opened)["id"]
    texts = [f"GATE_REVIEW: FAIL - {reason}" for reason in check.fails]
    for text in [*texts, f"GATE_REVIEW: PASS - {check.passes}"]:
        yield run.draw_pause()
        told = TakeVerdict(
            agent=run.agent,
            run_code=run.run_code,
            check_code=code,
            verdict=parse_verdict(VerdictIn(text=text), gates=gates),
            evidence=[],
        )
        review = run.send(told)["review"]
        if review is not None:
            yield from run.wait_for_ruling(review["id"])
            if not run.goes_on:
                return
        if GateCheck.objects.get(code=code).status != "open":
            return
