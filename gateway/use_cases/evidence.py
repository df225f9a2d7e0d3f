"""What proves a criterion: command results that agents report, and a judge's word."""

from __future__ import annotations

from collections.abc import Sequence

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


async def gather_evidence(
    body: VerdictIn, *, verdict: Verdict, gates: CombinedGates, takes_it: bool
) -> Sequence[Evidence]:
    """The judge is asked only where a PASS would depend on it.

    `takes_it` tells whether the check takes a verdict at all: a refusal needs no judge.
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
    judgement = await judge(criteria=list(judged.values()), output=body.output)
    return [*reported, *_build_judge_evidence(judged, judgement)]


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
