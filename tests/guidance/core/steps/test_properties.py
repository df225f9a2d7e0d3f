"""What holds for every input that the API accepts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import to_canonical_json
from guidance.core.policy import ContinueLimits, Policy, load_policy
from guidance.core.runs.memory import Memory
from guidance.core.runs.usage import Budget, Remaining, Usage
from guidance.core.steps.judge_step import StepVerdict
from guidance.core.steps.stateless import ContinueFacts, judge_continue
from guidance.core.vocabulary import INTENTS, STEP_DECISIONS, choose_most_severe
from tests.guidance.core.builders import walk
from tests.guidance.core.policy.dumps import dump_policy
from tests.support.examples import examples

# The same examples in every run: a test that fails only sometimes protects nothing.
steadily = examples(80)

amounts = st.integers(0, 10**15)
shares = st.floats(0, 1)
parts = st.none() | st.integers(1, 10**15)

reports = st.fixed_dictionaries(
    {"tokens": amounts, "tool_calls": amounts},
    optional={
        "duration_ms": amounts,
        "cost_micros": amounts,
        "rework": st.booleans(),
        "checkpoint": st.booleans(),
        "coherence": st.none() | shares,
        "uncertainty": st.none() | shares,
        "confidences": st.lists(shares, max_size=5).map(tuple),
        "intent": st.none() | st.sampled_from(INTENTS),
        "signature": st.none() | st.sampled_from("abc") | st.text(max_size=80),
        "failed_calls": st.none() | amounts,
    },
)
runs = st.lists(reports, min_size=1, max_size=30)
budgets = st.builds(
    Budget, tokens=parts, tool_calls=parts, time_ms=parts, cost_micros=parts
)


@st.composite
def limits(draw: st.DrawFn) -> ContinueLimits:
    def rising(low: int, high: int) -> tuple[int, int]:
        small = draw(st.integers(low, high))
        return small, draw(st.integers(small, high))

    interval, consecutive = rising(1, 200)
    min_steps, rework_window = rising(1, 100)
    min_points, slope_window = rising(3, 100)
    base, most = rising(1, 86_400_000)
    return ContinueLimits(
        max_consecutive_steps=consecutive,
        checkpoint_interval_steps=interval,
        min_coherence=draw(shares),
        max_uncertainty=draw(shares),
        max_rework_ratio=draw(shares),
        rework_window=rework_window,
        rework_min_steps=min_steps,
        max_budget_slope=draw(shares),
        slope_window=slope_window,
        slope_min_points=min_points,
        throttle_base_ms=base,
        throttle_max_ms=most,
        repeat_limit=draw(st.integers(2, 25)),
    )


policies = st.builds(
    lambda budget, limits: Policy(
        budget=budget, budget_ceiling=budget, continue_limits=limits
    ),
    budgets,
    limits(),
)


def holds_together(verdict: StepVerdict, policy: Policy) -> None:
    decisions = [finding.decision for finding in verdict.findings]
    assert verdict.decision in STEP_DECISIONS
    assert verdict.decision == choose_most_severe(decisions)
    assert (verdict.delay_ms > 0) == (verdict.decision == "throttle")
    assert verdict.delay_ms <= policy.continue_limits.throttle_max_ms
    assert verdict.recommended_action
    gates = {finding.gate for finding in verdict.findings}
    assert not gates & set(verdict.metrics.not_evaluated)
    assert verdict.checkpoint_due == ("checkpoint" in gates)
    json.loads(to_canonical_json(verdict.to_json()))


@steadily
@given(steps=runs, policy=policies)
def test_every_step_gets_an_answer_that_holds_together(
    steps: list[dict[str, Any]], policy: Policy
) -> None:
    for verdict in walk(steps, policy=policy, budget=policy.budget):
        holds_together(verdict, policy)


@steadily
@given(steps=runs, policy=policies)
def test_memory_survives_its_text_after_every_step(
    steps: list[dict[str, Any]], policy: Policy
) -> None:
    for verdict in walk(steps, policy=policy):
        text = to_canonical_json(verdict.memory.to_json())
        assert Memory.from_json(json.loads(text)) == verdict.memory


@steadily
@given(steps=runs, policy=policies, data=st.data())
def test_a_run_goes_on_from_its_stored_memory_as_if_never_stored(
    steps: list[dict[str, Any]], policy: Policy, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(steps) - 1))
    whole = walk(steps, policy=policy)
    memory, used = Memory(), Usage()
    if cut:
        memory = Memory.from_json(
            json.loads(to_canonical_json(whole[cut - 1].memory.to_json()))
        )
        used = whole[cut - 1].used
    assert walk(steps[cut:], policy=policy, memory=memory, used=used) == whole[cut:]


@steadily
@given(steps=runs)
def test_what_went_in_is_what_was_counted(steps: list[dict[str, Any]]) -> None:
    last = walk(steps)[-1]
    assert last.used == Usage(
        tokens=sum(step["tokens"] for step in steps),
        tool_calls=sum(step["tool_calls"] for step in steps),
        time_ms=sum(step.get("duration_ms", 0) for step in steps),
        cost_micros=sum(step.get("cost_micros", 0) for step in steps),
    )
    assert last.memory.steps == last.memory.last_step == len(steps)
    assert last.memory.rework_steps == sum(step.get("rework", False) for step in steps)


@steadily
@given(figures=st.lists(amounts, min_size=1, max_size=20))
def test_spend_that_never_rises_is_never_throttled(figures: list[int]) -> None:
    falling = sorted(figures, reverse=True)
    for verdict in walk({"tokens": tokens} for tokens in falling):
        assert verdict.decision != "throttle"


@steadily
@given(
    step=st.integers(0, 10**9),
    back=st.integers(0, 200),
    share=shares,
    scores=st.tuples(st.none() | shares, st.none() | shares),
    left=st.tuples(*[st.none() | st.integers(-(10**15), 10**15)] * 3),
    spend=st.lists(amounts, max_size=10),
    policy=policies,
)
def test_evaluation_without_a_run_always_answers(
    step: int,
    back: int,
    share: float,
    scores: tuple[float | None, float | None],
    left: tuple[int | None, int | None, int | None],
    spend: list[int],
    policy: Policy,
) -> None:
    tokens, tool_calls, time_ms = left
    verdict = judge_continue(
        policy=policy,
        facts=ContinueFacts(
            step_number=step,
            total_tokens_used=sum(spend),
            total_tool_calls=0,
            rework_count=int(step * share),
            coherence_score=scores[0],
            uncertainty_score=scores[1],
            budget_remaining=Remaining(
                tokens=tokens, tool_calls=tool_calls, time_ms=time_ms
            ),
            last_checkpoint_step=max(0, step - back),
            recent_step_tokens=tuple(spend),
        ),
    )
    decisions = [finding.decision for finding in verdict.findings]
    assert verdict.decision == choose_most_severe(decisions)
    to_canonical_json(verdict.to_json())


@steadily
@given(policy=policies)
def test_every_policy_survives_its_document(policy: Policy) -> None:
    text = to_canonical_json(dump_policy(policy))
    assert load_policy(json.loads(text)) == policy
