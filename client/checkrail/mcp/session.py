"""One agent's session: its run, and what each tool does with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from checkrail.answers import CallFinding, Decision, Finding
from checkrail.async_client import AsyncCheckrail
from checkrail.errors import CheckrailError
from checkrail.intents import Intent
from checkrail.mcp.decisions import (
    Progress,
    build_call_id,
    build_review_id,
    get_decision,
    list_new_notes,
)
from checkrail.runs.async_run import AsyncRun

Answer = dict[str, Any]

_STEP_INSTRUCTIONS = {
    "continue": "Go on.",
    "checkpoint": "Save your work now (a commit, or a note of where you are), then go "
    "on, and report the next step with checkpoint: true.",
    "pause": "Do nothing more: a person must look first. Call wait_for_decision with "
    "this id; go on only if approved is true.",
    "stop": "Stop working now and tell the user: the run is over. Only a manager can "
    "reopen it.",
}
_CALL_INSTRUCTIONS = {
    "allow": "Run it now, once, with exactly these arguments.",
    "warn": "Read the findings. If you still want to, run it now, once, with exactly "
    "these arguments.",
    "require-confirmation": "Do not run it yet: a person must allow it. Call "
    "wait_for_decision with this id; run it only if approved is true, with the arguments "
    "it gives.",
    "block": "Do not run it, in no other form either: nobody can allow it. The findings "
    "say what to do instead.",
}


class Session:
    """`run_id` names a run that somebody else has started, and ends."""

    def __init__(
        self, checkrail: AsyncCheckrail, *, run_id: str | None = None, task: str = ""
    ) -> None:
        self.run_id = run_id
        self._checkrail = checkrail
        self._task = task
        self._run: AsyncRun | None = None
        self._starting = asyncio.Lock()

    async def run(self, client: str = "") -> AsyncRun:
        """The run of this session; the first call starts it or takes it up."""
        async with self._starting:
            if self._run is None and self.run_id:
                self._run = await self._checkrail.resume(self.run_id)
            elif self._run is None:
                task = self._task or f"Session of {client or 'an agent'} over MCP"
                self._run = await self._checkrail.run(task)
            return self._run

    async def start_run(
        self, task: str, *, intent: Intent = "general", model: str = ""
    ) -> Answer:
        async with self._starting:
            if self._run is not None:
                raise CheckrailError(
                    f"A run is under way already: {self._run.url}. Go on with it, or end "
                    "it with finish_run first."
                )
            self._run = await self._checkrail.run(task, intent=intent, model=model)
        return self._build_run_answer(self._run, "Go on: report_step after every turn.")

    async def finish_run(
        self, outcome: Literal["completed", "failed"], *, summary: str = ""
    ) -> Answer:
        run = self._run
        if run is None:
            raise CheckrailError("There is no run to finish: nothing was reported yet.")
        await run.finish(outcome, summary=summary)
        self._run = None
        return self._build_run_answer(run, "The run is finished.")

    def _build_run_answer(self, run: AsyncRun, instruction: str) -> Answer:
        return {
            "run": run.id,
            "status": run.state.status,
            "url": run.url,
            "instruction": instruction,
        }

    async def report_step(self, run: AsyncRun, **figures: Any) -> Answer:
        decision = await run.report_step(**figures)
        return {
            "step": decision.step,
            "decision": decision.decision,
            "may_continue": decision.decision not in ("pause", "stop"),
            "instruction": _get_instruction(decision),
            "id": build_review_id(decision.review.id) if decision.review else None,
            "delay_ms": decision.delay_ms,
            "findings": _list_findings(decision.findings),
            "notes": await list_new_notes(run),
        }

    async def check_tool_call(
        self, run: AsyncRun, tool: str, arguments: Mapping[str, Any]
    ) -> Answer:
        answer = await run.judge_call("tool", tool=tool, arguments=arguments)
        may_run = answer.decision in ("allow", "warn") and not answer.replayed
        instruction = _CALL_INSTRUCTIONS[answer.decision]
        granted = None
        if may_run:
            granted = (await run.claim_call(answer.id, answer.digest)).call["arguments"]
        elif answer.replayed:
            instruction = "Nothing has to run: take output as the result."
        return {
            "id": build_call_id(answer.id),
            "decision": answer.decision,
            "may_run": may_run,
            "arguments": granted,
            "instruction": instruction,
            "findings": _list_findings(answer.findings),
            "output": answer.output,
            "notes": await list_new_notes(run),
        }

    async def request_approval(
        self, run: AsyncRun, title: str, *, detail: str = ""
    ) -> Answer:
        review = await run.open_review("request", title, detail=detail)
        return {
            "id": build_review_id(review.id),
            "approved": False,
            "url": review.url,
            "instruction": "Nothing is approved yet: do not do it, and do nothing else. "
            "Call wait_for_decision with this id.",
        }

    async def wait_for_decision(
        self, run: AsyncRun, id: str, *, timeout_s: int, progress: Progress
    ) -> Answer:
        return await get_decision(run, id, seconds=timeout_s, progress=progress)

    async def get_decision(self, run: AsyncRun, id: str) -> Answer:
        return await get_decision(run, id)

    async def close(self) -> None:
        """The run is left as it is: it may be taken up again by its id."""
        if self._run is not None:
            await self._run.close()


def _get_instruction(decision: Decision) -> str:
    if decision.decision == "throttle":
        seconds = decision.delay_ms / 1000
        return f"Wait {seconds:g} s, then go on in smaller steps."
    said = (_STEP_INSTRUCTIONS[decision.decision], decision.recommended_action)
    return " ".join(filter(None, dict.fromkeys(said)))


def _list_findings(findings: Sequence[Finding | CallFinding]) -> list[Answer]:
    return [
        {
            "gate": finding.gate,
            "decision": finding.decision,
            "message": finding.message,
            "remediation": getattr(finding, "remediation", None),
        }
        for finding in findings
    ]
