"""What an agent did as the next step of its run, and what the run's gates make of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from common.responses import Reply
from gateway.coding_agents import wording
from gateway.coding_agents.inputs import OptionsIn, UsageIn
from gateway.coding_agents.replies import GO, Outcome
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.coding_agents.sessions import reload_run, store_unreported_usage
from gateway.coding_agents.waiting import (
    add_agent_notes,
    allows_continuing,
    wait_for_ruling,
)
from gateway.models import HookSession
from gateway.schemas.runs import StepIn
from gateway.use_cases.access import get_policy_of_run
from gateway.use_cases.steps import ReportSteps, build_report, refuse_uncountable
from guidance.core.money import format_usd, parse_usd
from guidance.core.prices import ModelTokens
from guidance.core.runs.facts import StepReport
from guidance.core.runs.usage import Usage
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, get_writer
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.halts import Halted
from reviews.errors import RunClosed, RunPaused
from reviews.models import Kind


@dataclass(kw_only=True)
class ReportNextStep(ReportSteps):
    """A step without a number: tools end side by side, and the next number is each
    one's own. It carries what could not be told before."""

    locked = True

    reports: Sequence[StepReport] = ()
    told: StepReport
    # Tokens by model and kind, by which a cost that nobody told was computed.
    usage: Sequence[UsageIn] = ()
    session_id: int
    owed: HookSession = field(init=False)

    def _measure_wait(self, plan: Plan) -> None:
        """The server itself holds the hook for as long as it may, see `_obey`; other tools
        end meanwhile, and say nothing about the agent's patience."""

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        self.owed = HookSession.objects.get(pk=self.session_id)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        owed = self.owed
        report = self.told._replace(
            number=run.memory.last_step + 1,
            tokens=self.told.tokens + owed.owed_tokens,
            cost_micros=self.told.cost_micros + owed.owed_cost_micros,
        )
        self.reports = [report]
        change = super().decide(run, at)
        if self.usage:
            # Drafts are sealed later: so the entry can say what the cost is made of.
            self.judged[0].more["usage"] = [each.model_dump() for each in self.usage]
        paid = HookSession.objects.filter(pk=self.session_id)
        pay = partial(paid.update, owed_tokens=0, owed_cost_micros=0)
        change.plan.side_updates.append(pay)
        return change


async def report_step(hook: HookEvent, run: SessionRun, **facts: Any) -> Outcome:
    """Told to the run; held as long as the decision says so."""
    used = await _add_cost(hook, run)
    again = hook.build_idempotency(hook.event) if hook.body.tool_use_id else None
    body = StepIn(number=1, tokens=used.tokens, cost_usd=used.cost_usd, **facts)
    while True:
        try:
            reply = await get_writer().perform(
                ReportNextStep(
                    agent=hook.agent,
                    run_code=run.run,
                    told=build_report(body),
                    usage=used.usage,
                    session_id=run.session_id,
                    idempotency=again,
                    carries_notes=hook.carries_notes,
                )
            )
        except RunClosed:
            return (await reload_run(hook)).describe_halt()
        except Halted:
            await store_unreported_usage(run, used)
            raise
        except RunPaused as pause:
            waits = pause.extra["review"]
            if waits["kind"] == Kind.CONFIRMATION:
                # Another call of this turn waits for a person; this one is done.
                await store_unreported_usage(run, used)
                return GO
            stays = await _wait_for_review(hook, run, waits)
            if stays is not None:
                await store_unreported_usage(run, used)
                return stays
            continue
        decision = json.loads(reply.body)
        add_agent_notes(hook, decision)
        return await _obey(hook, run, decision)


async def _add_cost(hook: HookEvent, run: SessionRun) -> OptionsIn:
    """What was used, with its cost: as told, else by the prices of the run's policy. A
    model that has no price there adds nothing."""
    used = hook.body.checkrail
    if not used.usage or parse_usd(used.cost_usd):
        return used
    policy = await run_in_db_thread(partial(get_policy_of_run, hook.agent, run.run))
    costs = [
        policy.policy.prices.compute_cost(
            each.model,
            ModelTokens(
                input=each.input_tokens,
                cached_input=each.cached_input_tokens,
                cache_write=each.cache_write_tokens,
                output=each.output_tokens,
            ),
        )
        for each in used.usage
    ]
    total = sum(cost for cost in costs if cost is not None)
    refuse_uncountable(Usage(cost_micros=total))
    return used.model_copy(update={"cost_usd": format_usd(total)})


async def _obey(hook: HookEvent, run: SessionRun, decision: dict[str, Any]) -> Outcome:
    match decision["decision"]:
        case "stop":
            reason = wording.describe_stop(decision["findings"], run.url)
            return Outcome(decision="halt", reason=reason)
        case "pause":
            stays = await _wait_for_review(hook, run, decision["review"])
            if stays is not None:
                return stays
        case "throttle":
            await asyncio.sleep(max(0, min(decision["delay_ms"] / 1000, hook.left)))
        case _:
            pass
    due = decision["checkpoint_due"] or decision["decision"] == "checkpoint"
    return Outcome(context=wording.CHECKPOINT) if due else GO


async def _wait_for_review(
    hook: HookEvent, run: SessionRun, review: dict[str, Any]
) -> Outcome | None:
    """None once the run goes on; else why it does not."""
    decision_state = await wait_for_ruling(hook, run, review["id"])
    if decision_state["state"] == "open":
        return Outcome(decision="halt", reason=wording.describe_pause(review["url"]))
    if allows_continuing(decision_state):
        return None
    return (await reload_run(hook)).describe_halt()
