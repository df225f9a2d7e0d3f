"""Judging a step as a whole: every gate runs, the most severe decision wins."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from guidance.core.policy import ContinueLimits
from guidance.core.runs.memory import Memory
from guidance.core.runs.shared_limits import SharedUse
from guidance.core.runs.usage import Budget, Remaining, Usage
from guidance.core.steps import judge_step
from guidance.core.steps.advice import build_recommended_action
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding
from guidance.core.steps.gates import REGISTRY
from guidance.core.vocabulary import STEP_DECISIONS
from tests.guidance.core.builders import (
    PASSED,
    ask,
    list_gates,
    make_policy,
    make_report,
    step,
    walk,
)
from tests.support.rows import each_row

EVERYTHING_WRONG: dict[str, Any] = {
    "rework": True,
    "coherence": 0.1,
    "uncertainty": 0.9,
    "signature": "again",
}


def broken_run() -> list[dict[str, Any]]:
    """Ten steps after which every gate of a tight policy has tripped."""
    return [EVERYTHING_WRONG | {"tokens": 1000 * (n + 1)} for n in range(10)]


TIGHT = make_policy(max_consecutive_steps=10, checkpoint_interval_steps=5)


def test_a_healthy_step_goes_on() -> None:
    """CG-03."""
    verdict = ask(step_number=10, rework_count=1)
    assert (verdict.decision, verdict.findings) == ("continue", ())
    assert verdict.recommended_action == "Go on."


def test_every_gate_that_tripped_is_told_in_the_order_of_the_table() -> None:
    *most, last = broken_run()
    before = walk(most, policy=TIGHT)[-1]
    verdict = step(
        make_report(10, **last),
        policy=TIGHT,
        budget=Budget(tokens=5),
        used=before.used,
        memory=before.memory._replace(delay_ms=5000),
        waited_ms=0,
        shared=SharedUse(limits=(PASSED,)),
    )
    assert list_gates(verdict) == list(REGISTRY)
    assert verdict.decision == "stop"
    assert verdict.checkpoint_due


@pytest.mark.parametrize(
    ("facts", "decision", "gates"),
    [
        pytest.param(
            {"coherence_score": 0.2, "rework_count": 5},
            "stop",
            ["coherence", "rework"],
            id="CG-24",
        ),
        pytest.param(
            {"rework_count": 5, "recent_step_tokens": tuple(range(100, 1100, 100))},
            "pause",
            ["rework", "slope"],
            id="CG-25",
        ),
        pytest.param(
            {
                "step_number": 25,
                "recent_step_tokens": tuple(range(100, 1100, 100)),
            },
            "throttle",
            ["slope", "checkpoint"],
            id="throttle-over-checkpoint",
        ),
    ],
)
def test_the_most_severe_decision_wins(
    facts: dict[str, Any], decision: str, gates: list[str]
) -> None:
    verdict = ask(**facts)
    assert verdict.decision == decision
    assert list_gates(verdict) == gates


def test_four_evaluations_are_counted_by_decision() -> None:
    """CG-33, without the history: two good, one incoherent, one at step 25."""
    verdicts = [ask(), ask(), ask(coherence_score=0.1), ask(step_number=25)]
    assert Counter(verdict.decision for verdict in verdicts) == {
        "continue": 2,
        "stop": 1,
        "checkpoint": 1,
    }


@each_row(
    "facts",
    [
        pytest.param({}, id="continue"),
        pytest.param({"coherence_score": 0.1}, id="coherence"),
        pytest.param({"step_number": 100}, id="step_limit"),
        pytest.param({"budget_remaining": Remaining(tokens=0)}, id="budget"),
        pytest.param({"rework_count": 9}, id="rework"),
        pytest.param({"uncertainty_score": 0.9}, id="uncertainty"),
        pytest.param({"recent_step_tokens": (1, 2, 3, 4, 5, 6)}, id="slope"),
        pytest.param({"step_number": 25}, id="checkpoint"),
    ],
)
def test_every_decision_recommends_something(facts: dict[str, Any]) -> None:
    """CG-28."""
    assert ask(**facts).recommended_action.endswith(".")


def test_every_gate_that_holds_a_run_has_advice_of_its_own() -> None:
    verdict = walk(broken_run(), policy=TIGHT, budget=Budget(tokens=5))[-1]
    holding = [f for f in verdict.findings if f.decision in {"pause", "stop"}]
    said = {
        build_recommended_action(
            decision=each.decision, findings=[each], delay_ms=0, checkpoint_due=False
        )
        for each in holding
    }
    assert len(said) == len(holding)
    # What is said where a gate could not judge.
    assert not any("could not be made" in words for words in said)


def test_the_recommendation_follows_the_winning_gate() -> None:
    actions = {
        ask(**facts).recommended_action
        for facts in (
            {"coherence_score": 0.1},
            {"step_number": 100},
            {"rework_count": 9},
            {"uncertainty_score": 0.9},
            {"step_number": 25},
        )
    }
    assert len(actions) == 5
    pause = walk([{"signature": "a"}] * 3)[-1]
    assert "repeat" in pause.recommended_action


def boom(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    raise ZeroDivisionError("a secret that must not be told")


@pytest.mark.parametrize("name", list(REGISTRY))
def test_a_gate_that_fails_holds_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REGISTRY, name, boom)
    verdict = step(make_report(coherence=0.9, uncertainty=0.1))
    (finding,) = verdict.findings
    assert verdict.decision == "pause"
    assert (finding.gate, finding.decision) == (name, "pause")
    assert finding.message == f"The {name} check could not be made (ZeroDivisionError)"
    assert (finding.value, finding.limit) == (None, None)
    assert name in verdict.metrics.not_evaluated
    assert verdict.recommended_action == (
        "Wait for a reviewer: a check could not be made."
    )


def test_a_gate_that_fails_does_not_soften_a_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(REGISTRY, "rework", boom)
    verdict = step(make_report(coherence=0.1))
    assert verdict.decision == "stop"
    assert list_gates(verdict) == ["coherence", "rework"]


def test_a_gate_with_an_unknown_word_holds_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """EG-42 R."""

    def lenient(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
        return Finding(
            gate="rework", decision="allow", message="", value=None, limit=None
        )

    monkeypatch.setitem(REGISTRY, "rework", lenient)
    verdict = step(make_report())
    assert verdict.decision == "pause"
    assert "ValueError" in verdict.findings[0].message


def test_the_order_of_gates_changes_nothing_but_the_order_of_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = walk(broken_run(), policy=TIGHT)[-1]
    gates = list(REGISTRY.items())
    for seed in range(20):
        random.Random(seed).shuffle(gates)
        monkeypatch.setattr(judge_step, "REGISTRY", dict(gates))
        verdict = walk(broken_run(), policy=TIGHT)[-1]
        assert verdict.decision == expected.decision
        assert set(verdict.findings) == set(expected.findings)
        assert verdict.memory == expected.memory


def test_two_runs_interleaved_are_judged_as_if_alone() -> None:
    """CG-48 R."""
    calm: list[dict[str, Any]] = [{"tokens": 1000}] * 30
    wild = [{"tokens": 900_000 + 90_000 * n, "rework": n % 3 == 0} for n in range(30)]
    alone = walk(calm), walk(wild)
    memories, used = [Memory(), Memory()], [Usage(), Usage()]
    for number in range(1, 31):
        for run, steps in enumerate((calm, wild)):
            verdict = step(
                make_report(number, **steps[number - 1]),
                memory=memories[run],
                used=used[run],
            )
            memories[run], used[run] = verdict.memory, verdict.used
            assert verdict == alone[run][number - 1]


def test_judging_again_gives_the_same_and_changes_nothing() -> None:
    memory = walk(broken_run())[-1].memory
    report = make_report(11, **EVERYTHING_WRONG)
    assert step(report, memory=memory) == step(report, memory=memory)
    assert memory == walk(broken_run())[-1].memory


def test_what_had_nothing_to_judge_by_is_named() -> None:
    assert step(make_report()).metrics.not_evaluated == (
        "coherence",
        "rework",
        "uncertainty",
        "repetition",
        "slope",
    )
    everything = walk([{"signature": str(n)} for n in range(6)])[-1]
    assert everything.metrics.not_evaluated == ()


def test_the_answer_has_the_shape_of_the_contract() -> None:
    report = make_report(
        7,
        tokens=1830,
        tool_calls=2,
        duration_ms=4200,
        cost_micros=12_100,
        coherence=0.83,
        uncertainty=0.22,
        confidences=(0.9, 0.8),
        intent="bug-fix",
        summary="Ran the failing test, found the race",
        signature="bash:pytest -k login",
        failed_calls=0,
        rework=True,
    )
    memory = Memory(steps=6, last_step=6, rework_steps=3)
    assert step(report, memory=memory, budget=Budget()).to_json() == {
        "decision": "continue",
        "checkpoint_due": False,
        "delay_ms": 0,
        "findings": [],
        "metrics": {
            "budget_slope": 0.0,
            "budget_slope_significant": False,
            "rework_ratio": 1.0,
            "rework_ratio_total": 4 / 7,
            "steps_since_checkpoint": 7,
            "steps_until_checkpoint": 18,
            "coherence": 0.83,
            "coherence_level": "healthy",
            "coherence_source": "reported",
            "coherence_reported": 0.83,
            "coherence_computed": None,
            "coherence_parts": None,
            "uncertainty": 0.22,
            "uncertainty_level": "low",
            "uncertainty_source": "reported",
            "uncertainty_reported": 0.22,
            "uncertainty_computed": 0.151471862576,
            "uncertainty_parts": {
                "confidence": 0.848528137424,
                "failed_calls": None,
                "repeated": None,
            },
            "budget_remaining": {
                "tokens": 998_170,
                "tool_calls": 9_998,
                "time_ms": 3_595_800,
                "cost_usd": "9.9879",
            },
            "not_evaluated": ["rework", "slope"],
        },
        "recommended_action": "Go on.",
    }


def test_the_metrics_of_an_answer_are_a_copy() -> None:
    """CG-D13: altering an answer once altered the statistics."""
    verdict = step(make_report())
    answer: dict[str, Any] = verdict.to_json()
    answer["metrics"]["budget_remaining"]["tokens"] = 99
    answer["findings"].append("x")
    assert verdict.to_json() == step(make_report()).to_json()


def test_gates_only_ever_use_the_known_words() -> None:
    verdict = walk(broken_run(), policy=TIGHT, budget=Budget(tokens=5))[-1]
    decisions = {finding.decision for finding in verdict.findings}
    assert decisions == set(STEP_DECISIONS) - {"continue"}
