"""One run of the demo's past: what a demo agent did, moment by moment.

`RunPlan` says what the agent does next, as it does for the agents at work today. Every
step, call and ruling is a change request of the server's own.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from accounts.auth import AgentPrincipal
from common.ids import uuid7
from demo.agents.plan import RunPlan
from demo.agents.profile import Ask, Proposal
from demo.history.calls import make_call, make_check
from demo.history.people import Reviewers
from demo.history.writer import PastWriter
from gateway.schemas.runs import CheckpointIn, FinishIn, ReviewIn, RunIn, StepIn
from gateway.use_cases.asking.plans import SubmitPlan
from gateway.use_cases.asking.questions import AskPerson
from gateway.use_cases.checkpoints import SaveCheckpoint
from gateway.use_cases.outcomes.finish import FinishRun
from gateway.use_cases.runs import StartRun, choose_run_policy
from gateway.use_cases.steps import ReportSteps, build_report
from guidance.selectors import LoadedPolicy
from reviews.agent_plans.approving import judge_proposal
from reviews.models import Review, Ruling
from reviews.rulings.expiry import AbandonRun, ExpireReview
from reviews.schemas.plans import PlanIn
from reviews.services import build_ruling_request

# A step takes about as long as it says, and a little longer.
PAUSE_SECONDS = (2.0, 40.0)
# Shares of all runs: whose agent died, which gave up, whose tests failed at the end.
LOST, GAVE_UP, TESTS_FAILED = 0.02, 0.05, 0.06

# The moment at which the run goes on.
Moments = Iterator[datetime]
# The same, and at its end whether the run goes on.
Turn = Generator[datetime, None, bool]


class PastRun:
    def __init__(
        self,
        *,
        agent: AgentPrincipal,
        plan: RunPlan,
        model: str,
        writer: PastWriter,
        reviewers: Reviewers,
        chance: Random,
    ) -> None:
        self.agent = agent
        self.writer = writer
        self.run_code = ""
        self._plan = plan
        self._model = model
        self._reviewers = reviewers
        self.chance = chance
        self._step = 0

    def perform(self) -> Moments:
        """From its beginning to its end; the caller sets the clock before it goes on."""
        policy = self._start()
        yield self.draw_pause()
        lost_after = 4 if self.chance.random() < LOST else None
        while (yield from self._take_turn(policy)):
            if lost_after is not None and self._step >= lost_after:
                yield from self._abandon(policy)
                return
            yield self.draw_pause()

    def draw_pause(self) -> datetime:
        seconds = self.chance.uniform(*PAUSE_SECONDS)
        return self.writer.at + timedelta(seconds=seconds)

    def wait_for_ruling(self, review_code: str) -> Moments:
        """Until somebody has ruled, or its time is over."""
        review = Review.objects.select_related("run").get(code=review_code)
        options = tuple(json.loads(review.content).get("options") or ())
        ruling = self._reviewers.plan_ruling(
            kind=review.kind, options=options, at=self.writer.at
        )
        answered_at = self.writer.at + ruling.after
        if ruling.person is None or answered_at >= review.due_at:
            yield review.due_at
            expiry = ExpireReview(run_code=self.run_code, review_code=review_code)
            self.writer.perform(expiry)
            return
        yield answered_at
        request = build_ruling_request(
            review=review,
            person=ruling.person,
            action=ruling.action,
            version=review.version,
            content_digest=review.content_digest,
            note=ruling.note,
            answer=ruling.answer,
        )
        self.writer.perform(request)
        self._plan.continue_after_ruling()

    @property
    def goes_on(self) -> bool:
        return self.writer.is_running(self.run_code)

    def _start(self) -> LoadedPolicy:
        plan = self._plan
        body = RunIn.model_validate(
            {
                "task": plan.task.text,
                "intent": plan.profile.intent,
                "model": self._model,
                "labels": plan.task.labels,
                "budget": plan.budget,
            }
        )
        policy = choose_run_policy(self.agent, body)
        request = StartRun(agent=self.agent, body=body, policy=policy)
        self.writer.perform_unanswered(request)
        self.run_code = request.run_code
        return policy

    def _take_turn(self, policy: LoadedPolicy) -> Turn:
        """One step, and what comes before it; returns False when the run is over."""
        plan = self._plan
        if plan.ask is not None:
            yield from self._ask(plan.ask)
            return self.goes_on
        if plan.proposal is not None:
            yield from self._submit_plan(plan.proposal, policy)
            return self.goes_on
        if plan.call is not None:
            yield from make_call(self, plan.call, policy=policy)
            if not self.goes_on:
                return False
        if plan.check is not None:
            yield from make_check(self, plan.check, policy=policy, step=self._step)
            if not self.goes_on:
                return False
        body = plan.build_next_step()
        if body is None:
            self._finish()
            return False
        return (yield from self._report(body))

    def _report(self, body: dict[str, Any]) -> Turn:
        self._step += 1
        report = build_report(StepIn(number=self._step, **body))
        decision = self.send(
            ReportSteps(agent=self.agent, run_code=self.run_code, reports=[report])
        )
        if decision["checkpoint_due"]:
            label = f"After step {self._step}"
            saved = CheckpointIn(step=self._step, label=label, state={})
            self.writer.perform_unanswered(
                SaveCheckpoint(agent=self.agent, run_code=self.run_code, body=saved)
            )
        match decision["decision"]:
            case "throttle":
                self._plan.count_throttle()
                yield self.writer.at + timedelta(milliseconds=decision["delay_ms"] + 50)
            case "pause":
                yield from self.wait_for_ruling(decision["review"]["id"])
                return self.goes_on
            case "stop":
                return False
            case _:
                pass
        return True

    def _ask(self, ask: Ask) -> Moments:
        body = ReviewIn(
            kind=ask.kind,
            title=ask.title,
            detail=ask.detail,
            options=list(ask.options),
        )
        asked = AskPerson(agent=self.agent, run_code=self.run_code, body=body)
        yield from self.wait_for_ruling(self.send(asked)["id"])

    def _submit_plan(self, proposal: Proposal, policy: LoadedPolicy) -> Moments:
        """Asked once for all of it; what was approved is done."""
        body = PlanIn.model_validate(proposal.body)
        content = judge_proposal(
            body.build_proposal(), code=str(uuid7()), policy=policy.policy
        )
        asked = SubmitPlan(
            agent=self.agent, run_code=self.run_code, policy=policy, content=content
        )
        review = self.send(asked)["id"]
        yield from self.wait_for_ruling(review)
        if Ruling.objects.filter(review__code=review, action="approve").exists():
            steps = {step.purpose for step in proposal.steps}
            self._plan.follow_plan(proposal, steps=steps)

    def _finish(self) -> None:
        told = self._plan.build_outcome()
        drawn = self.chance.random()
        if drawn < GAVE_UP:
            told |= {
                "outcome": "failed",
                "summary": "Gave up: the cause was not found.",
            }
        elif drawn < GAVE_UP + TESTS_FAILED:
            told["tests"] |= {"failed": self.chance.randint(1, 9)}
        body = FinishIn(**told)
        self.writer.perform_unanswered(
            FinishRun(agent=self.agent, run_code=self.run_code, body=body)
        )

    def _abandon(self, policy: LoadedPolicy) -> Moments:
        """Its agent died: nothing more comes."""
        patience = timedelta(seconds=policy.policy.runs.abandon_after_s)
        yield self.writer.at + patience
        self.writer.perform(AbandonRun(run_code=self.run_code))

    def send(self, request: Any) -> dict[str, Any]:
        """Perform a request of the agent; returns the body of its answer."""
        answer: dict[str, Any] = json.loads(self.writer.perform(request).body)
        return answer
