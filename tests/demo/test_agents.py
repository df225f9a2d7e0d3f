"""Every character gets into the trouble it is there for, and into no other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import yaml
from django.conf import settings

from demo.agents.plan import Story
from demo.agents.profile import Call, Character, Check, Stop, Trouble
from demo.agents.profiles.steps import CAST, character_for
from guidance.core.checks import Verdict, combine, open_check, read_text, take_verdict
from guidance.core.money import micros
from guidance.core.policy import Policy, load_policy
from guidance.core.runs.facts import StepReport
from guidance.core.runs.memory import Memory
from guidance.core.runs.usage import Budget, Usage
from guidance.core.steps.judge_step import judge_step
from guidance.core.tools.judge_call import judge_call
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import judge_turn
from reviews.schemas.calls import ToolCallIn
from tests.rows import each_row

SEEDS = range(5)
BY_NAME = {character.name: character for character in CAST}


@dataclass
class Played:
    """How a run went, judged by the default policy."""

    decisions: list[str] = field(default_factory=list)
    gates: set[str] = field(default_factory=set)
    asked: str | None = None
    finished: bool = False


def play(character: Character, *, seed: int, troubled: bool) -> Played:
    """Report the story step by step, up to the first thing that needs a person."""
    story = Story(character, chance=Random(seed), troubled=troubled)
    memory, used = Memory(), Usage()
    budget = Budget(**story.budget)
    played = Played()
    while True:
        if story.ask is not None:
            played.asked = story.ask.kind
            return played
        if story.call is not None and decision_on(story.call) == "require-confirmation":
            played.asked = "confirmation"
            return played
        if story.check is not None and outcome_of(story.check) == "exhausted":
            played.asked = "exhausted"
            return played
        if story.stop is not None and action_on(story.stop) == "needs_human":
            played.asked = "question"
            return played
        body = story.step()
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
            memory = memory.checkpointed(memory.last_step)
        if verdict.decision == "throttle":
            story.throttled()
        if verdict.decision in {"pause", "stop"}:
            worst = verdict.decision
            played.gates = {f.gate for f in verdict.findings if f.decision == worst}
            return played


def decision_on(call: Call) -> str:
    """What the default policy says about a call of the demo."""
    body = ToolCallIn.model_validate(call.body).root
    return judge_call(
        rules=Policy().tools, call=body.call(), fingerprint_key=b"x"
    ).decision


def outcome_of(check: Check) -> str:
    """What the shipped gates make of the verdicts that a demo agent gives."""
    gates = combine(shipped().gates[name] for name in check.gates)
    state = open_check(gates)
    for text in (*[f"FAIL - {each}" for each in check.fails], f"PASS - {check.passes}"):
        verdict = read_text(text, gates=len(gates.gates), bare=True)
        assert isinstance(verdict, Verdict)
        outcome = take_verdict(state, verdict, gates=gates)
        state = outcome.state
        if state.status != "open":
            return outcome.word
    raise AssertionError("The check did not end.")


def action_on(stop: Stop) -> str:
    """What the shipped rules say about the way a turn of the demo ended."""
    facts = TurnFacts(**stop.body)
    return judge_turn(shipped().turns.for_model("demo"), facts).action


@cache
def shipped() -> Policy:
    text = (settings.ROOT / "guidance/policies/default.yaml").read_text()
    return load_policy(yaml.safe_load(text))


def report(body: dict[str, Any], *, number: int) -> StepReport:
    cost = micros(body.pop("cost_usd"))
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
        ("checkout-tester", "exhausted"),
        ("help-translator", "question"),
    ],
)
def test_it_asks_in_its_own_words(name: str, kind: str, seed: int) -> None:
    assert play(BY_NAME[name], seed=seed, troubled=True).asked == kind


@each_row("character", CAST, ids=lambda character: character.name)
def test_only_calls_in_trouble_need_a_person(character: Character) -> None:
    usual = [turn.call for turn in (*character.usual, *character.ending) if turn.call]
    assert {decision_on(call) for call in usual} <= {"allow", "warn"}
    wanted = character.trouble.calls if character.trouble else ()
    assert all(decision_on(call) == "require-confirmation" for call in wanted)


@each_row("character", CAST, ids=lambda character: character.name)
def test_only_checks_and_turns_in_trouble_need_a_person(character: Character) -> None:
    turns = (*character.usual, *character.ending)
    outcomes = {outcome_of(turn.check) for turn in turns if turn.check}
    assert outcomes <= {"passed", "warned"}
    actions = {action_on(turn.stop) for turn in turns if turn.stop}
    assert actions <= {"auto_continue"}
    trouble = character.trouble or Trouble(after=0)
    assert all(outcome_of(check) == "exhausted" for check in trouble.checks)
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
@each_row("character", CAST, ids=lambda character: character.name)
def test_without_trouble_everybody_finishes(character: Character, seed: int) -> None:
    assert play(character, seed=seed, troubled=False).finished


@each_row("character", CAST, ids=lambda character: character.name)
def test_the_same_seed_tells_the_same_story(character: Character) -> None:
    def told() -> list[dict[str, Any] | None]:
        story = Story(character, chance=Random("1:x"), troubled=True)
        return [story.step() for _ in range(40)]

    assert told() == told()


@each_row("character", CAST, ids=lambda character: character.name)
def test_a_ruling_brings_the_run_to_its_end(character: Character) -> None:
    story = Story(character, chance=Random(1), troubled=True)
    story.step()
    story.ruled()
    left = []
    while (body := story.step()) is not None:
        left.append(body["summary"])
    assert left == [turn.summary for turn in character.ending]


def test_agents_of_other_names_take_turns() -> None:
    assert character_for("sim-001", index=0) is CAST[0]
    assert character_for("sim-012", index=len(CAST) + 1) is CAST[1]
    assert character_for("nightly-deps", index=0) is BY_NAME["nightly-deps"]
