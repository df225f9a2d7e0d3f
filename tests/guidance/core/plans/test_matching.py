"""What an approved plan lets through is what it names, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.plans.judging import judge_plan
from guidance.core.plans.matching import (
    AskedRules,
    apply_plan,
    build_keys,
    drop_repeated_command,
    find_unanswerable,
    get_plan_facts,
)
from guidance.core.plans.paths import are_paths_below
from guidance.core.plans.proposal import (
    PlanLimits,
    Proposal,
    ProposedCall,
    ProposedStep,
)
from guidance.core.reviews.section import SeverityRules
from guidance.core.runs.memory import Memory
from guidance.core.runs.plans import RunPlan, read_plan
from guidance.core.shell_commands.limits import MAX_FINDINGS
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.section import ToolRules
from reviews.transitions import build_run_plan
from tests.guidance.core.tools.builders import KEY, command, use

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TOOLS = ToolRules()
RULES = AskedRules(always_ask=TOOLS.always_ask, severity=SeverityRules())
_WORDS = ["rm", "-rf", "-r", "build-1", "build-22", "build/a", "..", "src", "/", "git"]
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join)


def judge(text: str) -> CallVerdict:
    return judge_call(rules=TOOLS, call=command(text), fingerprint_key=KEY)


def build_plan(steps: list[ProposedStep], **limits: Any) -> RunPlan:
    """As its approval would have it."""
    proposal = Proposal(
        title="t", steps=tuple(steps), limits=PlanLimits(**{"tool_calls": 9, **limits})
    )
    content = judge_plan(
        proposal, code="p", tools=TOOLS, rules=RULES, fingerprint_key=KEY
    )
    steps_covered = [
        {**step, "calls": [call for call in step["calls"] if call["covered"]]}
        for step in content["steps"]
    ]
    return build_run_plan(
        {
            "plan": "p",
            "review": "r",
            "ends_at": (NOW + timedelta(hours=1)).isoformat(),
            "limits": {"tool_calls": proposal.limits.tool_calls, "cost_micros": None},
            "cost_before_micros": 0,
            "steps": steps_covered,
        }
    )


def propose(*texts: str, shape: bool = False, paths: tuple[str, ...] = ()) -> Any:
    calls = []
    for text in texts:
        keys = build_keys(command(text))
        may = shape and keys.shape and keys.shape != keys.exact
        calls.append(
            ProposedCall(tool="Bash", command=text, shape="shape" if may else "")
        )
    return ProposedStep(purpose="p", calls=tuple(calls), paths=paths)


def decide(verdict: CallVerdict, plan: RunPlan | None, **more: Any) -> CallVerdict:
    facts = {"cost_micros": 0, "at": NOW, **more}
    return apply_plan(verdict, plan, rules=RULES, **facts)


@given(
    planned=st.lists(_TEXTS, min_size=1, max_size=3),
    called=_TEXTS,
    paths=st.sampled_from([(), ("build",), ("build-1", "src")]),
)
def test_what_it_lets_through_is_what_it_names(
    planned: list[str], called: str, paths: tuple[str, ...]
) -> None:
    plan = build_plan([propose(*planned, paths=paths)])
    before = judge(called)

    after = decide(before, plan)

    if before.decision == "block":
        assert after == before
    if before.decision == "require-confirmation" and after.decision == "allow":
        keys = {build_keys(command(text)).exact for text in planned}
        assert build_keys(command(called)).exact in keys
        assert not paths or are_paths_below(command(called), paths)
        assert plan.count_call(get_plan_facts(after, plan)["plan"]).used == 1
    assert after.decision in {before.decision, "allow"}


def test_a_shape_needs_the_rule_to_be_neither_critical_nor_always_asked() -> None:
    step = replace(
        propose("rm -rf build-1"),
        calls=(ProposedCall(tool="Bash", command="rm -rf build-1", shape="shape"),),
    )
    plan = build_plan([step])
    other = judge("rm -rf build-2")
    assert decide(other, plan).decision == "allow"
    critical = AskedRules(
        always_ask=(), severity=SeverityRules(rules={"delete-*": "critical"})
    )
    always = AskedRules(always_ask=("delete-*",), severity=SeverityRules())
    for rules in (critical, always):
        outside = apply_plan(other, plan, rules=rules, cost_micros=0, at=NOW)
        assert outside.decision == "require-confirmation"
        exact = apply_plan(
            judge("rm -rf build-1"), plan, rules=rules, cost_micros=0, at=NOW
        )
        assert exact.decision == "allow"


def ask(gate: str = "destructive", **details: Any) -> CallFinding:
    return CallFinding(
        gate=gate, decision="require-confirmation", message="m", details=details
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"redacted": True}, "it has a secret in it"),
        ({"decision": "block"}, "it is blocked"),
        ({"findings": (ask(rule="a"),) * (MAX_FINDINGS - 1)}, None),
        (
            {"findings": (ask(rule="a"),) * MAX_FINDINGS},
            "there may be more to ask about than was told",
        ),
        (
            {"findings": (ask(rule="a"), ask())},
            "it is asked about by no rule that a plan could name",
        ),
        (
            {"findings": (ask("confirm", by="agent"),)},
            "it is asked about by no rule that a plan could name",
        ),
        (
            {"findings": (ask("permission", by="policy"),)},
            "it is asked about by no rule that a plan could name",
        ),
        ({"findings": (ask("confirm", by="policy"),)}, None),
    ],
)
def test_what_no_plan_answers(change: dict[str, Any], problem: str | None) -> None:
    """Each for one reason alone: but for that a plan names the very call."""
    plan = build_plan([propose("rm -rf src")])
    (step,) = plan.steps
    calls = tuple(
        replace(call, rules=("a", "confirm", "delete-folder")) for call in step.calls
    )
    plan = replace(plan, steps=(replace(step, calls=calls),))
    verdict = replace(judge("rm -rf src"), **change)
    assert find_unanswerable(verdict) == problem
    assert (decide(verdict, plan).decision == "allow") is (problem is None)


@pytest.mark.parametrize("shape", ["", "shape"])
def test_a_call_with_a_secret_is_shown_as_not_covered(shape: str) -> None:
    """Even one that is only searched for, which blocks nothing."""
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    text = f"grep {secret} notes && rm -rf build-1"
    planned = ProposedCall(tool="Bash", command=text, shape=shape)
    proposal = Proposal(
        title="t",
        steps=(ProposedStep(purpose="p", calls=(planned,), paths=()),),
        limits=PlanLimits(tool_calls=9),
    )
    content = judge_plan(
        proposal, code="p", tools=TOOLS, rules=RULES, fingerprint_key=KEY
    )
    ((call,),) = (step["calls"] for step in content["steps"])
    assert call["decision"] == "require-confirmation"
    assert (call["covered"], call["why_not"]) == (False, "it has a secret in it")
    assert (call["key"], call["shape_key"], call["covers"]) == ("", "", "")
    assert secret not in str(content)


def test_only_a_command_that_repeats_itself_is_the_same_without_arguments() -> None:
    plain = command("rm -rf a")
    same = command("rm -rf a", arguments={"command": "rm -rf a"})
    assert drop_repeated_command(same) == plain
    assert build_keys(same) == build_keys(plain)
    for other in (
        command("rm -rf a", arguments={"command": "rm -rf b"}),
        command("rm -rf a", arguments={"command": "rm -rf a", "cwd": "b"}),
        use("Bash", command="rm -rf a"),
    ):
        assert drop_repeated_command(other) is other
        assert build_keys(other).exact != build_keys(plain).exact


def test_what_is_planned_keeps_its_warning() -> None:
    text = "rm -rf src && rm notes.txt"
    plan = build_plan([propose(text)])
    before = judge(text)
    assert [each.decision for each in before.findings] == [
        "require-confirmation",
        "warn",
    ]
    assert decide(before, plan).decision == "warn"


def test_a_rule_that_was_not_asked_about_is_asked_about() -> None:
    plan = build_plan([propose("rm -rf src")])
    (step,) = plan.steps
    (call,) = step.calls
    other = replace(call, rules=("git-push-force",))
    moved = replace(plan, steps=(replace(step, calls=(other,)),))
    assert decide(judge("rm -rf src"), moved).decision == "require-confirmation"


def test_its_time_and_its_cost_end_it() -> None:
    plan = replace(build_plan([propose("rm -rf src")]), cost_micros=10)
    asked = judge("rm -rf src")
    assert decide(asked, plan, cost_micros=9).decision == "allow"
    assert decide(asked, plan, cost_micros=10).decision == "require-confirmation"
    late = plan.ends_at
    assert decide(asked, plan, at=late).decision == "require-confirmation"


def test_without_a_plan_nothing_changes() -> None:
    asked = judge("rm -rf src")
    assert decide(asked, None) is asked
    assert get_plan_facts(asked, None) == {}


def test_a_memory_keeps_it_and_what_cannot_be_read_covers_nothing() -> None:
    plan = build_plan([propose("rm -rf a", "ls", paths=("a",))])
    used = plan.count_call({"plan": "p", "step": 1, "call": 1})
    kept = Memory(plan=used.count_call({"plan": "p", "step": None}))
    assert Memory.from_json(kept.to_json()) == kept
    assert kept.plan is not None
    assert (kept.plan.used, kept.plan.outside) == (1, 1)
    assert used.count_call({"plan": "q", "step": 1, "call": 1}) == used
    for row in (None, [], [1] * 8, {"a": 1}, "x"):
        assert read_plan(row) is None
    assert "plan" not in Memory().to_json()
