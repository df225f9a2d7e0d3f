"""Any order of notes, steps, calls, waits, retries and lost answers: each note is carried by
one change, and the agent's loop hears it once, in the order in which they were written."""

from __future__ import annotations

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
from ledger.verification.verify import verify_run_and_rows
from ledger.writer import get_writer
from tests.reviews.agent_notes.telling import list_entries, list_notes, tell
from tests.support.builders import start_run, step
from tests.support.examples import MACHINE_TIMEOUT, machine_examples
from tests.support.people import rule as rule_on


class NoteMachine(RuleBasedStateMachine):
    """An agent's loop: a request whose answer is lost is sent again before any other."""

    agent: httpx.Client
    person: httpx.Client

    def __init__(self) -> None:
        super().__init__()
        self.run = start_run(self.agent)
        self.written: list[str] = []
        self.heard: list[str] = []
        self.steps: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.calls = 0
        self.paused: str | None = None
        self.ruled: str | None = None

    def hear(self, answer: httpx.Response, *, status: int = 201) -> dict[str, Any]:
        """What the loop takes: ids that it has had are dropped."""
        assert answer.status_code == status, answer.text
        body: dict[str, Any] = answer.json()
        for note in body["notes"]:
            if note["id"] not in self.heard:
                self.heard.append(note["id"])
        return body

    @rule()
    def write(self) -> None:
        self.written.append(tell(self.person, self.run, f"note {len(self.written)}"))

    @rule(lost=st.integers(0, 2), pauses=st.booleans())
    def report(self, lost: int, pauses: bool) -> None:
        """A step; `lost` answers never reach the agent."""
        if self.paused is not None:
            return
        more = {"uncertainty": 0.95} if pauses else {"checkpoint": True}
        number = len(self.steps) + 1
        body = step(number, signature=str(number), **more)
        path = f"/runs/{self.run}/steps"
        for _ in range(lost):
            assert self.agent.post(path, json=body).status_code == 201
        decision = self.hear(self.agent.post(path, json=body))
        self.steps.append((body, decision))
        if decision["review"]:
            self.paused = decision["review"]["id"]

    @precondition(lambda self: self.steps)
    @rule(number=st.integers(0, 20))
    def repeat_step(self, number: int) -> None:
        """Long after: the same answer, and nothing that came since."""
        body, decision = self.steps[number % len(self.steps)]
        answer = self.agent.post(f"/runs/{self.run}/steps", json=body)
        assert answer.json() == decision

    @rule(lost=st.integers(0, 2))
    def call(self, lost: int) -> None:
        if self.paused is not None:
            return
        self.calls += 1
        key = {"Idempotency-Key": f"{self.run}-{self.calls}"}
        body = {"kind": "command", "tool": "Bash", "command": "ls"}
        path = f"/runs/{self.run}/tool-calls"
        for _ in range(lost):
            assert self.agent.post(path, json=body, headers=key).status_code == 201
        self.hear(self.agent.post(path, json=body, headers=key))

    @precondition(lambda self: self.paused)
    @rule(lost=st.integers(0, 2))
    def rule_and_wait(self, lost: int) -> None:
        assert self.paused is not None
        rule_on(self.person, self.paused, "approve")
        path = f"/runs/{self.run}/decision?review={self.paused}"
        for _ in range(lost):
            assert self.agent.get(path).status_code == 200
        self.hear(self.agent.get(path), status=200)
        self.ruled, self.paused = self.paused, None

    @precondition(lambda self: self.ruled and self.paused is None)
    @rule()
    def ask_again(self) -> None:
        path = f"/runs/{self.run}/decision?review={self.ruled}"
        self.hear(self.agent.get(path), status=200)

    @precondition(lambda self: self.heard)
    @rule(number=st.integers(0, 20))
    def acknowledge(self, number: int) -> None:
        code = self.heard[number % len(self.heard)]
        answer = self.agent.post(f"/runs/{self.run}/notes/{code}/read")
        assert answer.json()["state"] == "read"

    @rule()
    def look(self) -> None:
        """Delivers nothing, whoever looks."""
        before = list_entries(self.run)
        list_notes(self.agent, self.run)
        assert self.person.get(f"/runs/{self.run}/decision").json()["notes"] == []
        assert list_entries(self.run) == before

    @rule()
    def forget_what_the_writer_knows(self) -> None:
        """Only what is stored counts. The writer itself stays: waiting agents of this
        process's server are woken by it."""
        get_writer()._committer.forget()

    @invariant()
    def each_is_heard_once_and_in_order(self) -> None:
        assert self.heard == self.written[: len(self.heard)]
        delivered = [
            code
            for name, payload in list_entries(self.run)
            if name == "note.delivered"
            for code in payload["notes"]
        ]
        assert delivered == self.heard

    def teardown(self) -> None:
        run = Run.objects.get(code=self.run)
        assert verify_run_and_rows(run).reason is None
        assert replay_run(run).difference is None


@pytest.mark.timeout(MACHINE_TIMEOUT)
def test_any_order_of_acts_delivers_each_note_once(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    NoteMachine.agent, NoteMachine.person = agent, reviewer
    run_state_machine_as_test(NoteMachine, settings=machine_examples(6, steps=18))
