"""Every profile gets into the trouble it is there for, and into no other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import yaml
from django.conf import settings

from demo.agents.plan import RunPlan
from demo.agents.profile import Call, Check, Profile, Stop, Trouble
from demo.agents.profiles import PROFILES, get_profile
from guidance.core.checks import (
    Verdict,
    apply_verdict,
    combine,
    open_check,
    read_verdict_text,
)
from guidance.core.money import parse_usd
from guidance.core.policy import Policy, load_policy
from guidance.core.runs.facts import StepReport
from guidance.core.runs.memory import Memory
from guidance.core.runs.usage import Budget, Usage
from guidance.core.steps.judge_step import judge_step
from guidance.core.tools.judge_call import judge_call
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import judge_turn
from reviews.schemas.calls import ToolCallIn
from tests.support.rows import each_row

SEEDS = range(5)
BY_NAME = {profile.name: profile for profile in PROFILES}


@dataclass
class Played:
    """How a run went, judged by the default policy."""

    decisions: list[str] = field(default_factory=list)
    gates: set[str] = field(default_factory=set)
    asked: str | None = None
    finished: bool = False


def play(profile: Profile, *, seed: int, troubled: bool) -> Played:
    """Report the plan step by step, up to the first thing that needs a person."""
    plan = RunPlan(profile, chance=Random(seed), troubled=troubled)
    memory, used = Memory(), Usage()
    budget = Budget(**plan.budget)
    played = Played()
    while True:
        if plan.ask is not None:
            played.asked = plan.ask.kind
            return played
        if plan.proposal is not None:
            played.asked = "plan"
            return played
        if plan.call is not None and decision_on(plan.call) == "require-confirmation":
            played.asked = "confirmation"
            return played
        if plan.check is not None and get_outcome(plan.check) == "exhausted":
            played.asked = "exhausted"
            return played
        if plan.stop is not None and action_on(plan.stop) == "needs_human":
            played.asked = "question"
            return played
        body = plan.build_next_step()
        if body is None:
            played.finished = True
            return played
        verdict = judge_step(
            policy=Policy(),
            report=report(body, number=memory.last_step + 1),
            memory=memory,
            used=used,
            budget=budget,
        )
        memory, used = verdict.memory, verdict.used
        played.decisions.append(verdict.decision)
        if verdict.checkpoint_due:
            memory = memory.set_checkpoint(memory.last_step)
        if verdict.decision == "throttle":
            plan.count_throttle()
        if verdict.decision in {"pause", "stop"}:
            worst = verdict.decision
            played.gates = {f.gate for f in verdict.findings if f.decision == worst}
            return played


def decision_on(call: Call) -> str:
    """What the default policy says about a call of the demo."""
    body = ToolCallIn.model_validate(call.body).root
    return judge_call(
        rules=Policy().tools, call=body.build_call(), fingerprint_key=b"x"
    ).decision


def get_outcome(check: Check) -> str:
    """What the shipped gates make of the verdicts that a demo agent gives."""
    gates = combine(load_shipped_policy().gates[name] for name in check.gates)
    state = open_check(gates)
    for text in (*[f"FAIL - {each}" for each in check.fails], f"PASS - {check.passes}"):
        verdict = read_verdict_text(text, gates=len(gates.gates), bare=True)
        assert isinstance(verdict, Verdict)
        outcome = apply_verdict(state, verdict, gates=gates)
        state = outcome.state
        if state.status != "open":
            return outcome.word
    raise AssertionError("The check did not end.")


def action_on(stop: Stop) -> str:
    """What the shipped rules say about the way a turn of the demo ended."""
    facts = TurnFacts(**stop.body)
    return judge_turn(load_shipped_policy().turns.get_for_model("demo"), facts).action


@cache
def load_shipped_policy() -> Policy:
    text = (settings.ROOT / "guidance/policies/default.yaml").read_text()
    return load_policy(yaml.safe_load(text))


def report(body: dict[str, Any], *, number: int) -> StepReport:
    cost = parse_usd(body.pop("cost_usd"))
    return StepReport(number=number, cost_micros=cost, **body)


@each_row("seed", SEEDS)
@each_row(
    ("name", "gate"),
    [
        ("billing-migrator", "rework"),
        ("docs-sweeper", "uncertainty"),
        ("search-reindex", "repetition"),
    ],
)
def test_it_is_paused_by_its_own_gate(name: str, gate: str, seed: int) -> None:
    played = play(BY_NAME[name], seed=seed, troubled=True)
    assert played.decisions[-1] == "pause"
    assert gate in played.gates
    assert len(played.decisions) <= 30


@each_row("seed", SEEDS)
@each_row(
    ("name", "kind"),
    [
        ("pr-triage", "question"),
        ("release-notes", "request"),
        ("release-pilot", "confirmation"),
        ("shop-janitor", "confirmation"),
        ("build-pruner", "plan"),
        ("checkout-tester", "exhausted"),
        ("help-translator", "question"),
    ],
)
def test_it_asks_in_its_own_words(name: str, kind: str, seed: int) -> None:
    assert play(BY_NAME[name], seed=seed, troubled=True).asked == kind


@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_only_calls_in_trouble_need_a_person(profile: Profile) -> None:
    usual = [turn.call for turn in (*profile.usual, *profile.ending) if turn.call]
    assert {decision_on(call) for call in usual} <= {"allow", "warn"}
    trouble = profile.trouble or Trouble(after=0)
    beside = [plan.beside.call for plan in trouble.plans if plan.beside.call]
    wanted = [*trouble.calls, *beside]
    assert all(decision_on(call) == "require-confirmation" for call in wanted)


def test_a_plan_is_followed_but_for_one_call_before_its_last() -> None:
    profile = BY_NAME["build-pruner"]
    plan = RunPlan(profile, chance=Random(1), troubled=True)
    while (proposal := plan.proposal) is None:
        plan.build_next_step()
    plan.continue_after_ruling()
    plan.follow_plan(proposal, steps={step.purpose for step in proposal.steps[1:]})
    calls = []
    while (body := plan.build_next_step()) is not None:
        calls.append(body["signature"])
    planned = [call.signature for step in proposal.steps[1:] for call in step.calls]
    said = [turn.does for turn in profile.ending]
    assert calls == [*planned[:-1], proposal.beside.does, planned[-1], *said]


@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_only_checks_and_turns_in_trouble_need_a_person(profile: Profile) -> None:
    turns = (*profile.usual, *profile.ending)
    outcomes = {get_outcome(turn.check) for turn in turns if turn.check}
    assert outcomes <= {"passed", "warned"}
    actions = {action_on(turn.stop) for turn in turns if turn.stop}
    assert actions <= {"auto_continue"}
    trouble = profile.trouble or Trouble(after=0)
    assert all(get_outcome(check) == "exhausted" for check in trouble.checks)
    assert all(action_on(stop) == "needs_human" for stop in trouble.stops)


@each_row("seed", SEEDS)
def test_the_fuzzer_is_throttled_and_then_takes_smaller_steps(seed: int) -> None:
    played = play(BY_NAME["checkout-fuzzer"], seed=seed, troubled=True)
    assert played.decisions.count("throttle") >= 3
    assert played.finished


@each_row("seed", SEEDS)
def test_the_backfill_uses_up_its_budget(seed: int) -> None:
    played = play(BY_NAME["data-backfill"], seed=seed, troubled=True)
    assert played.decisions[-1] == "stop"
    assert played.gates == {"budget"}


def test_the_nightly_worker_obeys_checkpoints_and_finishes() -> None:
    played = play(BY_NAME["nightly-deps"], seed=1, troubled=True)
    assert played.decisions.count("checkpoint") == 2
    assert played.finished


@each_row("seed", SEEDS)
@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_without_trouble_everybody_finishes(profile: Profile, seed: int) -> None:
    assert play(profile, seed=seed, troubled=False).finished


@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_the_same_seed_tells_the_same_plan(profile: Profile) -> None:
    def told() -> list[dict[str, Any] | None]:
        plan = RunPlan(profile, chance=Random("1:x"), troubled=True)
        return [plan.build_next_step() for _ in range(40)]

    assert told() == told()


@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_ruling_brings_the_run_to_its_end(profile: Profile) -> None:
    plan = RunPlan(profile, chance=Random(1), troubled=True)
    plan.build_next_step()
    plan.continue_after_ruling()
    left = []
    while (body := plan.build_next_step()) is not None:
        left.append(body["summary"])
    assert left == [turn.summary for turn in profile.ending]


@each_row("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_note_is_what_it_does_next(profile: Profile) -> None:
    def play_plan(*, note: bool) -> list[str]:
        plan = RunPlan(profile, chance=Random(1), troubled=True)
        told = []
        while (body := plan.build_next_step()) is not None:
            told.append(body["summary"])
            if note and len(told) == 1:
                plan.take_note({"id": "1", "by": "alice", "text": "Keep dist"})
        return told

    first, said, *rest = play_plan(note=True)
    assert said == "Took up what alice wrote: Keep dist"
    assert [first, *rest] == play_plan(note=False)


def test_agents_of_other_names_take_turns() -> None:
    assert get_profile("sim-001", index=0) is PROFILES[0]
    assert get_profile("sim-012", index=len(PROFILES) + 1) is PROFILES[1]
    assert get_profile("nightly-deps", index=0) is BY_NAME["nightly-deps"]
