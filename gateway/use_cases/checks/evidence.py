"""What proves a criterion: command results that agents report, and a judge's word."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from gateway.llm.endpoint import get_endpoint
from gateway.llm.judge import Judgement, judge
from gateway.schemas.checks import VerdictIn
from guidance.core.checks import (
    CombinedGates,
    Evidence,
    JudgeEvidence,
    Verdict,
    read_evidence,
)

NO_JUDGE = "no judge is configured on this server, so this criterion cannot be met"

Record = Callable[[Judgement], Awaitable[None]]

# A task that nobody holds on to may be dropped before it is done.
_under_way: set[asyncio.Task[Judgement]] = set()


async def gather_evidence(
    body: VerdictIn,
    *,
    verdict: Verdict,
    gates: CombinedGates,
    takes_it: bool,
    record: Record,
) -> Sequence[Evidence]:
    """The judge is asked only where a PASS would depend on it.

    `takes_it` tells whether the check takes a verdict at all: a refusal needs no judge.
    `record` writes down what the judge cost.
    """
    reported = read_evidence(body.evidence, gates=gates)
    judged = {
        name: criterion.text
        for name, criterion in gates.verified.items()
        if criterion.verifier == "judge"
    }
    if not judged or not verdict.passed or not takes_it:
        return reported
    if get_endpoint() is None:
        return [*reported, *_fail_all(judged, NO_JUDGE)]
    asking = asyncio.create_task(_ask_judge(list(judged.values()), body.output, record))
    _under_way.add(asking)
    asking.add_done_callback(_under_way.discard)
    # An agent that hangs up does not make the question free.
    judgement = await asyncio.shield(asking)
    return [*reported, *_build_judge_evidence(judged, judgement)]


async def _ask_judge(criteria: list[str], output: str, record: Record) -> Judgement:
    judgement = await judge(criteria=criteria, output=output)
    await record(judgement)
    return judgement


def _build_judge_evidence(
    judged: dict[str, str], judgement: Judgement
) -> list[JudgeEvidence]:
    """Trouble and suspicion fail every criterion: neither may ever pass one."""
    doubt = judgement.trouble or judgement.suspicion
    if doubt is not None:
        return _fail_all(judged, f"the judge could not be relied on: {doubt}")
    return [
        JudgeEvidence(criterion=name, passed=said.passed, rationale=said.rationale)
        for name, said in zip(judged, judgement.criteria, strict=True)
    ]


def _fail_all(judged: dict[str, str], why: str) -> list[JudgeEvidence]:
    return [
        JudgeEvidence(criterion=name, passed=False, rationale=why) for name in judged
    ]
