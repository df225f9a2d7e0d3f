"""Any order of acts on calls: a small model says what each must be answered with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.gateway.calls.calls import claim, settle, slug
from tests.gateway.calls.calls import rule as rule_on
from tests.support.builders import start_run, step
from tests.support.examples import MACHINE_TIMEOUT, machine_examples

LIMIT = 6
COMMANDS = {
    "harmless": "ls",
    "dangerous": "rm -rf build",
    "secret": "deploy --token ghp_xQzWkVyTgHjRpLmNuYwXzKqJvGtPsRyHnMzL",
}
UNSPENT = {"waiting", "granted"}


@dataclass(slots=True)
class Asked:
    """A call as the model knows it."""

    kind: str
    answer: dict[str, Any]
    state: str
    digest: str


@dataclass(slots=True)
class Model:
    status: str = "running"
    paused_by_gate: str | None = None
    steps: int = 0
    used: int = 0
    calls: list[Asked] = field(default_factory=list)

    @property
    def waiting(self) -> list[Asked]:
        return [call for call in self.calls if call.state == "waiting"]

    @property
    def full(self) -> bool:
        return self.used + len(self.waiting) >= LIMIT

    def close(self, status: str) -> None:
        self.status = status
        self.paused_by_gate = None
        for call in self.calls:
            if call.state in UNSPENT:
                call.state = "refused" if call.state == "waiting" else "revoked"

    def let(self) -> None:
        self.used += 1


picked = st.integers(0, 20)


class CallMachine(RuleBasedStateMachine):
    agent: httpx.Client
    person: httpx.Client

    def __init__(self) -> None:
        super().__init__()
        self.run = start_run(self.agent, budget={"tool_calls": LIMIT})
        self.model = Model()

    def pick(self, number: int) -> Asked:
        return self.model.calls[number % len(self.model.calls)]

    @rule(kind=st.sampled_from(["harmless", "harmless", "dangerous", "secret"]))
    def ask(self, kind: str) -> None:
        model = self.model
        body = {"kind": "command", "command": COMMANDS[kind]}
        answer = self.agent.post(f"/runs/{self.run}/tool-calls", json=body)
        if model.status != "running":
            assert slug(answer) == "run-closed"
            return
        if model.paused_by_gate:
            assert slug(answer) == "run-paused"
            return
        told = answer.json()
        decision = {"harmless": "allow", "dangerous": "require-confirmation"}
        expected = "block" if model.full else decision.get(kind, "block")
        assert told["decision"] == expected, told
        state = {"allow": "granted", "require-confirmation": "waiting"}
        asked = Asked(kind, told, state.get(expected, "refused"), told["digest"])
        model.calls.append(asked)
        if asked.state == "granted":
            model.let()

    @precondition(lambda self: self.model.calls)
    @rule(number=picked, right=st.booleans())
    def claim(self, number: int, right: bool) -> None:
        model, call = self.model, self.pick(number)
        digest = call.digest if right else "sha256:0"
        answer = claim(self.agent, self.run, call.answer, digest)
        if model.status != "running":
            assert slug(answer) == "run-closed"
        elif call.state == "waiting":
            assert slug(answer) == "review-open"
        elif call.state == "refused":
            assert answer.status_code == 403
        elif not right:
            assert slug(answer) == "grant-mismatch"
        elif call.state != "granted":
            assert slug(answer) == "grant-spent"
        elif model.paused_by_gate:
            assert slug(answer) == "run-paused"
        else:
            assert answer.status_code == 200, answer.text
            call.state = "claimed"

    @precondition(lambda self: self.model.calls)
    @rule(number=picked, ok=st.booleans())
    def settle(self, number: int, ok: bool) -> None:
        model, call = self.model, self.pick(number)
        answer = settle(self.agent, self.run, call.answer, ok=ok)
        if call.state == "waiting":
            assert slug(answer) == "review-open"
        elif call.state == "refused":
            assert answer.status_code == 403
        elif call.state.startswith("settled"):
            same = call.state == f"settled {ok}"
            assert answer.status_code == (200 if same else 409)
        elif model.status != "running":
            assert slug(answer) == "run-closed"
        elif call.state == "revoked":
            assert slug(answer) == "grant-spent"
        else:
            assert answer.status_code == 200, answer.text
            call.state = f"settled {ok}"

    @precondition(lambda self: self.model.waiting)
    @rule(number=picked, action=st.sampled_from(["approve", "amend", "deny"]))
    def rule_on_one(self, number: int, action: str) -> None:
        call = self.model.waiting[number % len(self.model.waiting)]
        more = {"amended": {"command": "rm -ri build"}} if action == "amend" else {}
        ruled = rule_on(self.person, call.answer, action, **more)
        assert ruled.status_code == 200, ruled.text
        ruling = ruled.json()["ruling"]
        assert (ruling["grant"] is None) == (action == "deny")
        if action == "deny":
            call.state = "refused"
            return
        call.state = "granted"
        self.model.let()
        if action == "amend":
            call.digest = ruling["amended"]["digest"]
            assert call.digest != call.answer["digest"]

    @rule(how=st.sampled_from(["good", "good", "uncertain", "incoherent"]))
    def report(self, how: str) -> None:
        model = self.model
        more = {"uncertain": {"uncertainty": 0.95}, "incoherent": {"coherence": 0.1}}
        body = step(model.steps + 1, tool_calls=0, checkpoint=True, **more.get(how, {}))
        answer = self.agent.post(f"/runs/{self.run}/steps", json=body)
        if model.status != "running":
            assert slug(answer) == "run-closed"
            return
        if model.paused_by_gate or model.waiting:
            assert slug(answer) == "run-paused"
            return
        told = answer.json()
        model.steps += 1
        if how == "incoherent" or model.used >= LIMIT:
            assert told["decision"] == "stop"
            model.close("stopped")
        elif told["decision"] == "pause":
            model.paused_by_gate = told["review"]["id"]

    @precondition(lambda self: self.model.paused_by_gate)
    @rule()
    def approve_the_pause(self) -> None:
        paused = {"review": {"id": self.model.paused_by_gate}}
        assert rule_on(self.person, paused, "approve").status_code == 200
        self.model.paused_by_gate = None

    @precondition(lambda self: len(self.model.calls) > 4)
    @rule(end=st.sampled_from(["abort", "finish"]))
    def end(self, end: str) -> None:
        model = self.model
        if end == "abort":
            body: dict[str, Any] = {"reason": "enough"}
            answer = self.person.post(f"/runs/{self.run}/abort", json=body)
            if model.status in {"running", "stopped"}:
                model.close("aborted")
        else:
            body = {"outcome": "completed"}
            answer = self.agent.post(f"/runs/{self.run}/finish", json=body)
            if model.status == "running" and not (
                model.paused_by_gate or model.waiting
            ):
                # How it did is the evaluators' matter. They count broken rules.
                accepted = answer.json()["accepted"]
                assert accepted or {call.kind for call in model.calls} != {"harmless"}
                model.close("completed" if accepted else "failed")
        assert answer.status_code in {200, 409}

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        model = self.model
        run = self.agent.get(f"/runs/{self.run}").json()
        held = model.paused_by_gate or model.waiting
        assert run["status"] == ("paused" if held else model.status)
        assert run["budget"]["tool_calls"]["used"] == model.used <= LIMIT
        assert len(run["open_reviews"]) == len(model.waiting) + bool(
            model.paused_by_gate
        )

    def teardown(self) -> None:
        for call in self.model.calls:
            path = f"/runs/{self.run}/tool-calls/{call.answer['id']}"
            assert self.agent.get(path).json()["state"] == call.state.split()[0]
        run = Run.objects.get(code=self.run)
        assert verify_run(run).ok
        assert replay_run(run).difference is None


@pytest.mark.timeout(MACHINE_TIMEOUT)
def test_any_order_of_acts_on_calls_is_answered_as_the_model_says(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    CallMachine.agent, CallMachine.person = agent, manager
    run_state_machine_as_test(
        CallMachine,
        settings=machine_examples(6, steps=18),
    )
