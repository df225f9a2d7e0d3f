"""Any order of acts on a run: a small model says what each must be answered with."""

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
from reviews.rulings.expiry import expire_due_reviews
from tests.reviews.rulings.test_expiry import overdue
from tests.support.builders import start_run, step
from tests.support.examples import MACHINE_TIMEOUT, machine_examples
from tests.support.people import get_seen
from tests.support.problems import problem

ACTIONS = {
    "pause": {"approve", "abort"},
    "request": {"approve", "deny", "abort"},
    "question": {"answer", "abort"},
}
FINAL = {"completed", "failed", "aborted"}


@dataclass(slots=True)
class Model:
    """What a run must be like after what was done to it."""

    status: str = "running"
    last: dict[str, Any] | None = None
    steps: int = 0
    entries: int = 1
    review: str | None = None
    kind: str = ""
    state: str = "none"
    rulings: dict[str, Any] = field(default_factory=dict)

    @property
    def closed(self) -> bool:
        return self.status == "stopped" or self.status in FINAL

    def opened(self, review: str, kind: str) -> None:
        self.review, self.kind, self.state = review, kind, "open"
        self.status = "paused"
        self.entries += 1

    def ended(self, state: str, status: str) -> None:
        self.state, self.status = state, status
        self.entries += 1

    def refused(self, answer: httpx.Response) -> bool:
        """Whether an agent's act must meet a closed door; checks that it did."""
        if self.closed:
            assert problem(answer, "run-closed")["run_status"] == self.status
        elif self.status == "paused":
            assert problem(answer, "run-paused")["review"]["id"] == self.review
        else:
            return False
        return True


class RunMachine(RuleBasedStateMachine):
    agent: httpx.Client
    person: httpx.Client

    def __init__(self) -> None:
        super().__init__()
        self.run = start_run(self.agent)
        self.model = Model()

    def post(self, act: str, body: Any = None) -> httpx.Response:
        return self.agent.post(f"/runs/{self.run}/{act}", json=body)

    @rule(how=st.sampled_from(["good", "good", "uncertain", "incoherent"]))
    def report(self, how: str) -> None:
        model = self.model
        more = {"uncertain": {"uncertainty": 0.95}, "incoherent": {"coherence": 0.1}}
        body = step(model.steps + 1, checkpoint=True, **more.get(how, {}))
        answer = self.post("steps", body)
        if model.refused(answer):
            return
        assert answer.status_code == 201, answer.text
        model.steps += 1
        model.entries += 1
        model.last = body
        if how == "uncertain":
            model.opened(answer.json()["review"]["id"], "pause")
        elif how == "incoherent":
            model.status = "stopped"

    @rule(ahead=st.integers(1, 3))
    def report_too_early(self, ahead: int) -> None:
        answer = self.post("steps", step(self.model.steps + 1 + ahead))
        if not self.model.refused(answer):
            refusal = problem(answer, "step-out-of-order")
            assert refusal["expected"] == self.model.steps + 1

    @precondition(lambda self: self.model.last is not None)
    @rule()
    def report_again(self) -> None:
        answer = self.post("steps", self.model.last)
        assert answer.status_code == 201
        assert answer.headers["idempotency-replayed"] == "true"

    @precondition(lambda self: self.model.last is not None)
    @rule()
    def report_again_otherwise(self) -> None:
        assert self.model.last is not None
        body = {**self.model.last, "tokens": 7}
        problem(self.post("steps", body), "step-conflict")

    @rule(kind=st.sampled_from(["request", "question"]))
    def ask(self, kind: str) -> None:
        answer = self.post("reviews", {"kind": kind, "title": "May I?"})
        if not self.model.refused(answer):
            assert answer.status_code == 201
            self.model.opened(answer.json()["id"], kind)

    @precondition(lambda self: self.model.review is not None)
    @rule()
    def withdraw(self) -> None:
        answer = self.agent.post(f"/reviews/{self.model.review}/withdraw")
        if self.model.state != "open":
            problem(answer, "already-ruled")
        elif self.model.kind == "pause":
            problem(answer, "forbidden")
        else:
            assert answer.status_code == 200
            self.model.ended("withdrawn", "running")

    @precondition(lambda self: self.model.review is not None)
    @rule(action=st.sampled_from(["approve", "abort", "deny", "answer"]))
    def rule_on_it(self, action: str) -> None:
        model = self.model
        assert model.review is not None
        body = {"action": action, **get_seen(self.person, model.review)}
        if action == "answer":
            body["answer"] = "Yes."
        answer = self.person.post(f"/reviews/{model.review}/ruling", json=body)
        if model.state == "expired":
            problem(answer, "review-expired")
        elif model.state != "open":
            told = problem(answer, "already-ruled")["ruling"]
            assert told == model.rulings.get(model.review)
        elif action not in ACTIONS[model.kind]:
            problem(answer, "invalid")
        else:
            assert answer.status_code == 200, answer.text
            model.rulings[model.review] = answer.json()["ruling"]
            model.ended("ruled", "aborted" if action == "abort" else "running")
            model.entries += action == "abort"

    @precondition(lambda self: self.model.review is not None)
    @rule(act=st.sampled_from(["claim", "comments"]))
    def look_at_it(self, act: str) -> None:
        body = {"text": "hm"} if act == "comments" else None
        path = f"/reviews/{self.model.review}/{act}"
        answer = self.person.post(path, json=body) if body else self.person.post(path)
        if act == "comments" or self.model.state == "open":
            assert answer.is_success
            self.model.entries += 1
        else:
            assert answer.status_code in {409, 410}

    # The two ends come late, so that there is something to end.
    @precondition(lambda self: self.model.entries > 6)
    @rule()
    def abort(self) -> None:
        model = self.model
        answer = self.person.post(f"/runs/{self.run}/abort", json={"reason": "no"})
        if model.status in FINAL:
            problem(answer, "run-closed")
            return
        assert answer.status_code == 200
        if model.state == "open":
            model.ended("superseded", "aborted")
        model.status = "aborted"
        model.entries += 1

    @rule()
    def reopen(self) -> None:
        answer = self.person.post(f"/runs/{self.run}/reopen", json={"reason": "yes"})
        if self.model.status == "stopped":
            assert answer.status_code == 200
            self.model.status = "running"
            self.model.entries += 1
        else:
            problem(answer, "run-closed" if self.model.closed else "invalid")

    @precondition(lambda self: self.model.entries > 6)
    @rule(outcome=st.sampled_from(["completed", "failed"]))
    def finish(self, outcome: str) -> None:
        answer = self.post("finish", {"outcome": outcome})
        if self.model.status == "running":
            assert answer.status_code == 200
            self.model.status = outcome
            self.model.entries += 1
        else:
            problem(answer, "run-closed" if self.model.closed else "review-open")

    @rule(ahead=st.integers(0, 1))
    def save(self, ahead: int) -> None:
        answer = self.post("checkpoints", {"step": self.model.steps + ahead})
        if self.model.closed:
            problem(answer, "run-closed")
        elif ahead:
            problem(answer, "invalid")
        else:
            assert answer.status_code == 201
            self.model.entries += 1

    @precondition(lambda self: self.model.state == "open")
    @rule()
    def let_it_expire(self) -> None:
        assert self.model.review is not None
        overdue(self.model.review)
        assert expire_due_reviews() >= 1
        self.model.ended("expired", "aborted")
        self.model.entries += 1

    @invariant()
    def the_run_is_as_the_model_says(self) -> None:
        model = self.model
        run = self.agent.get(f"/runs/{self.run}").json()
        assert run["status"] == model.status
        assert run["steps"] == run["last_step"] == model.steps
        assert run["head"]["seq"] == model.entries
        assert (run["finished_at"] is not None) == (model.status in FINAL)
        waiting = [review["id"] for review in run["open_reviews"]]
        assert waiting == ([model.review] if model.state == "open" else [])
        told = self.agent.get(f"/runs/{self.run}/decision").json()
        assert told["state"] == model.state
        assert told["run_status"] == model.status
        assert told["ruling"] == model.rulings.get(model.review or "")

    def teardown(self) -> None:
        run = Run.objects.get(code=self.run)
        assert verify_run(run).ok
        assert replay_run(run).difference is None


@pytest.mark.timeout(MACHINE_TIMEOUT)
def test_any_order_of_acts_is_answered_as_the_model_says(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    RunMachine.agent, RunMachine.person = agent, manager
    run_state_machine_as_test(
        RunMachine,
        settings=machine_examples(10, steps=18),
    )
