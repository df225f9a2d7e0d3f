"""Stored steps, under a draft."""

from __future__ import annotations

from functools import partial

from gateway.backtest.facts import build_draft_budget, find_draft_cap, shorten
from gateway.stored_decisions import get_stored_cap, judge_stored_step
from guidance.core.steps.judge_step import ENGINE_VERSION, StepVerdict
from guidance.core.vocabulary import STEP_DECISIONS
from ledger.backtest.figures import StepFigures
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    Judgement,
    Payload,
    StoredDecision,
    Subject,
    Unknown,
)
from ledger.state import RunState

STEP = DecisionKind(name="step", decisions=STEP_DECISIONS, asking=frozenset({"pause"}))


def judge_step_again(item: StoredDecision) -> BothJudgements | Unknown:
    payload, pair = item.payload, item.policies
    stored: Judgement = payload["verdict"]
    current = payload["engine"] == ENGINE_VERSION
    if current and pair.same_for_steps:
        return BothJudgements(stored, stored)
    reached = find_draft_cap(payload, pair)
    if isinstance(reached, Unknown):
        return reached
    judge = partial(judge_stored_step, payload, item.state, at=item.at)
    after = judge(policy=pair.draft, budget=build_draft_budget(item), reached=reached)
    if not current:
        own = judge(
            policy=pair.own,
            budget=item.state.budget,
            reached=get_stored_cap(payload),
        )
        stored = _build_judgement(own)
    return BothJudgements(stored, _build_judgement(after))


def read_step_figures(payload: Payload) -> StepFigures | None:
    """None for what another version of the gates has measured."""
    if payload["engine"] != ENGINE_VERSION:
        return None
    verdict = payload["verdict"]
    return StepFigures(payload["policy"], verdict["metrics"], verdict["findings"])


def describe_step(payload: Payload, _state: RunState) -> Subject:
    report = payload["report"]
    return Subject(report["number"], shorten(report["summary"]))


def _build_judgement(verdict: StepVerdict) -> Judgement:
    """Without the figures and words that merely follow from a limit."""
    findings = [finding.to_json() for finding in verdict.findings]
    return {"decision": verdict.decision, "findings": findings}
