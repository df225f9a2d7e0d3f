"""One run that a demo agent works on until it ends.

Every decision is obeyed: the agent slows down when throttled, saves when a checkpoint
is due, waits for a person when paused, and leaves a run that was stopped or aborted.
Of its calls it makes those that were granted, exactly as they were granted, and after a
gate check it does what the verdict led to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from demo.agents.plan import RunPlan
from demo.agents.profile import Ask, Call, Check, Profile, Proposal, Stop
from demo.client import Answer, Client, Counts

WAIT_SECONDS = 25
# How long an agent keeps to a run that nobody rules on before it starts another.
PATIENCE_SECONDS = 240.0
# The first steps of a fleet come fast, so that a new console has something to show.
HASTY_STEPS = 34
HASTY_PACE = 0.14
# How long a call takes, in seconds.
CALL_SECONDS = (0.2, 2.5)
# Somebody else ended or moved the run: no reason to be surprised.
EXPECTED = frozenset(
    {
        "run-closed",
        "not-found",
        "step-conflict",
        "step-out-of-order",
        "grant-expired",
        "grant-spent",
    }
)

logger = logging.getLogger(__name__)


# Starts a run below another one, and returns the task that works on it.
StartChild = Callable[[str, Profile], Awaitable[asyncio.Task[None] | None]]


class Work:
    def __init__(
        self,
        *,
        run: str,
        plan: RunPlan,
        client: Client,
        counts: Counts,
        chance: Random,
        time_factor: float,
        start_child: StartChild,
        hasty: bool = False,
        last_step: int = 0,
        waiting: bool = False,
    ) -> None:
        self.run = run
        self.waiting = waiting
        # Whether it takes one of the fleet's places in the queue.
        self.needs_person = plan.needs_person or waiting
        self.left_alone = asyncio.Event()
        self._plan = plan
        self._client = client
        self._counts = counts
        self._chance = chance
        self._time_factor = time_factor
        self._hasty = hasty
        self._step = last_step
        self._start_child = start_child
        self._children: list[asyncio.Task[None]] = []
        self._notes: list[dict[str, Any]] = []

    async def finish(self) -> None:
        if self.waiting and not await self._wait(review=None):
            return
        while await self._take_turn():
            pace = self._get_pause(self._plan.profile.pace)
            await self._sleep(pace * self._chance.uniform(0.6, 1.4))

    async def report_failure(self) -> None:
        """Report the run as failed: the simulation has ended."""
        body = {"outcome": "failed", "summary": "The simulation was ended."}
        await self._client.post(f"runs/{self.run}/finish", body)

    def _get_pause(self, seconds: float) -> float:
        hasty = self._hasty and self._step < HASTY_STEPS
        return HASTY_PACE if hasty else seconds

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._time_factor)

    async def _take_turn(self) -> bool:
        """Take one step, or ask, plan, call or check instead; False when the run is over."""
        ask = self._plan.ask
        if ask is not None:
            return await self._ask(ask)
        proposal = self._plan.proposal
        if proposal is not None:
            return await self._submit_plan(proposal)
        call = self._plan.call
        if call is not None and not await self._call(call):
            return False
        check = self._plan.check
        if check is not None and not await self._check(check):
            return False
        stop = self._plan.stop
        if stop is not None and not await self._stop(stop):
            return False
        part = self._plan.starts
        if part is not None:
            child = await self._start_child(self.run, part)
            self._children += [child] if child else []
        step = self._plan.build_next_step()
        if step is None:
            await asyncio.gather(*self._children)
            await self._client.post(
                f"runs/{self.run}/finish", self._plan.build_outcome()
            )
            return False
        number = self._step + 1
        answer = await self._client.post_step(
            f"runs/{self.run}/steps", {"number": number, **step}
        )
        if not answer.ok:
            return await self._handle_refusal(answer)
        self._step = number
        self._counts.steps += 1
        self._keep_notes(answer.body)
        while self._notes:
            self._plan.take_note(self._notes.pop(0))
        return await self._obey(answer.body)

    def _keep_notes(self, answer: dict[str, Any]) -> None:
        """What people wrote is done after the step that is under way."""
        self._notes += answer["notes"]

    async def _obey(self, decision: dict[str, Any]) -> bool:
        word = decision["decision"]
        self._counts.decisions[word] += 1
        if decision["checkpoint_due"]:
            await self._save()
        match word:
            case "continue" | "checkpoint":
                return True
            case "throttle":
                self._plan.count_throttle()
                # In full, however fast the demo is: the server's clock notices.
                await asyncio.sleep(decision["delay_ms"] / 1000)
                return True
            case "pause":
                self._counts.opened += 1
                return await self._wait(review=decision["review"]["id"])
            case "stop":
                return False
            case _:
                raise ValueError(f"The decision {word!r} is not known.")

    async def _save(self) -> None:
        state = {"last_step": self._step, "next": self._plan.next_summary}
        await self._client.post(
            f"runs/{self.run}/checkpoints",
            {"step": self._step, "label": f"After step {self._step}", "state": state},
        )

    async def _ask(self, ask: Ask) -> bool:
        body = {
            "kind": ask.kind,
            "title": ask.title,
            "detail": ask.detail,
            "options": list(ask.options),
        }
        answer = await self._client.post(f"runs/{self.run}/reviews", body)
        if not answer.ok:
            return await self._handle_refusal(answer)
        self._counts.opened += 1
        return await self._wait(review=answer.body["id"])

    async def _submit_plan(self, proposal: Proposal) -> bool:
        """Ask once for what is planned, and keep to what was approved of it."""
        answer = await self._client.post(f"runs/{self.run}/plans", proposal.body)
        if not answer.ok:
            return await self._handle_refusal(answer)
        self._counts.opened += 1
        decided = await self._wait_for_decision(review=answer.body["id"])
        if not await self._may_go_on(decided):
            return False
        ruling = decided.body["ruling"] or {}
        if ruling.get("action") in {"approve", "amend"}:
            approved = ruling.get("amended") or proposal.body
            steps = {step["purpose"] for step in approved["steps"]}
            self._plan.follow_plan(proposal, steps=steps)
        return True

    async def _call(self, call: Call) -> bool:
        """Ask, then act if allowed; False when the run is over.

        What was refused is left out, and the work goes on without it.
        """
        path = f"runs/{self.run}/tool-calls"
        answer = await self._client.post(path, call.body)
        if not answer.ok:
            return await self._handle_refusal(answer)
        judged = answer.body
        self._keep_notes(judged)
        self._counts.calls[judged["decision"]] += 1
        granted = judged["digest"] if judged["grant"] else None
        output = call.output
        if judged["review"] is not None:
            self._counts.opened += 1
            answer = await self._wait_for_decision(review=judged["review"]["id"])
            if not await self._may_go_on(answer):
                return False
            ruling = answer.body["ruling"] or {}
            if ruling.get("action") == "approve":
                granted = judged["digest"]
            elif ruling.get("action") == "amend":
                granted = ruling["amended"]["digest"]
                output = "Done, as the reviewer changed it."
        if granted is not None:
            await self._act(f"{path}/{judged['id']}", granted, output)
        return True

    async def _check(self, check: Check) -> bool:
        """Say FAIL as long as something is found, then PASS; False when it is over."""
        path = f"runs/{self.run}/gate-checks"
        body = {"step": self._step, "gates": list(check.gates)}
        opened = await self._client.post(path, body)
        if not opened.ok:
            return await self._handle_refusal(opened)
        path = f"{path}/{opened.body['id']}"
        for reason in check.fails:
            told = await self._send_verdict(path, f"GATE_REVIEW: FAIL - {reason}")
            if not told.ok:
                return await self._handle_refusal(told)
            if told.body["review"] is not None:
                return await self._follow_choice(path, check, told.body["review"]["id"])
            if told.body["status"] != "open":
                return True  # a warning, or a client in the log: the work goes on
        told = await self._send_verdict(path, f"GATE_REVIEW: PASS - {check.passes}")
        return told.ok or await self._handle_refusal(told)

    async def _send_verdict(self, path: str, text: str) -> Answer:
        await self._sleep(self._get_pause(self._chance.uniform(*CALL_SECONDS)))
        told = await self._client.post(f"{path}/verdicts", {"text": text})
        if told.ok:
            self._counts.verdicts[told.body["outcome"]] += 1
        return told

    async def _follow_choice(self, path: str, check: Check, review: str) -> bool:
        """The attempts are used up: a person chooses. With a new attempt, follow their guidance."""
        self._counts.opened += 1
        answer = await self._wait_for_decision(review=review)
        if not await self._may_go_on(answer):
            return False
        stands = await self._client.get(path)
        if not stands.ok or stands.body["status"] != "open":
            return stands.ok  # skipped: not passed, and the work goes on
        by = ", by the reviewer's guidance" if stands.body["guidance"] else ""
        text = f"GATE_REVIEW: PASS - {check.passes}{by}"
        told = await self._send_verdict(path, text)
        return told.ok or await self._handle_refusal(told)

    async def _stop(self, stop: Stop) -> bool:
        """Tell how the turn ended; a question waits for its answer."""
        told = await self._client.post(f"runs/{self.run}/turns", stop.body)
        if not told.ok:
            return await self._handle_refusal(told)
        self._counts.turns[told.body["action"]] += 1
        if told.body["review"] is None:
            return True
        self._counts.opened += 1
        return await self._wait(review=told.body["review"]["id"])

    async def _act(self, path: str, digest: str, output: str) -> None:
        """Claim the grant, do it, tell what came of it."""
        claimed = await self._client.post(f"{path}/claim", {"digest": digest})
        if not claimed.ok:
            await self._handle_refusal(claimed)
            return
        seconds = self._chance.uniform(*CALL_SECONDS)
        await self._sleep(self._get_pause(seconds))
        result = {"ok": True, "output": output, "duration_ms": int(seconds * 1000)}
        await self._client.post(f"{path}/result", result)

    async def _wait(self, *, review: str | None) -> bool:
        """Wait for a person; True when the run may go on."""
        return await self._may_go_on(await self._wait_for_decision(review=review))

    async def _wait_for_decision(self, *, review: str | None) -> Answer:
        """What became of the review, as soon as it is no longer open."""
        self.waiting = True
        impatient = asyncio.get_running_loop().call_later(
            PATIENCE_SECONDS * self._time_factor, self.left_alone.set
        )
        which = {} if review is None else {"review": review}
        path = f"runs/{self.run}/decision"
        try:
            answer = await self._client.get(path, wait=WAIT_SECONDS, **which)
            while answer.ok and answer.body["state"] == "open":
                answer = await self._client.get(path, wait=WAIT_SECONDS, **which)
        finally:
            impatient.cancel()
        self.waiting = False
        if answer.ok:
            self._keep_notes(answer.body)
        return answer

    async def _may_go_on(self, answer: Answer) -> bool:
        if not answer.ok:
            return await self._handle_refusal(answer)
        if answer.body["state"] == "ruled":
            self._counts.ruled += 1
        self._plan.continue_after_ruling()
        return bool(answer.body["run_status"] == "running")

    async def _handle_refusal(self, answer: Answer) -> bool:
        """Wait where a person is asked; leave the run otherwise."""
        if answer.problem == "run-paused":
            return await self._wait(review=None)
        if answer.problem not in EXPECTED:
            self._counts.errors += 1
            logger.warning("A demo agent was refused: %s", answer.body.get("detail"))
        return False
