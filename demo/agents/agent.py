"""A demo agent: one run after the other, as long as the fleet is at work."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from demo.agents.plan import RunPlan
from demo.agents.profile import Profile
from demo.agents.run import Work
from demo.client import Client, Counts, KeyRejected

REST_SECONDS = 9.0
# How many of an agent's runs go wrong; the first one always does.
TROUBLE_SHARE = 0.7
# A running run that is silent for so long has nobody who works on it.
SILENT = timedelta(minutes=1)
# An agent whose limit of the day is used up tries so often whether a run may begin.
LIMIT_REST_SECONDS = 30.0

logger = logging.getLogger(__name__)


class ReviewSlots:
    """How many runs of the fleet may need a person at the same time."""

    def __init__(self, places: int) -> None:
        self._free = places

    @property
    def full(self) -> bool:
        return self._free <= 0

    def take(self) -> None:
        self._free -= 1

    def release(self) -> None:
        self._free += 1


class Agent:
    def __init__(
        self,
        *,
        profile: Profile,
        client: Client,
        slots: ReviewSlots,
        counts: Counts,
        chance: Random,
        time_factor: float,
    ) -> None:
        self._profile = profile
        self._client = client
        self._slots = slots
        self._counts = counts
        self._chance = chance
        self._time_factor = time_factor
        self._works: dict[str, Work] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._is_at_limit = False

    @property
    def running(self) -> list[Work]:
        """Runs in this agent's hands that do not wait for a person."""
        return [work for work in self._works.values() if not work.waiting]

    async def run_forever(self) -> None:
        """Work until the key is no longer valid."""
        await self._sleep(self._profile.begins_after)
        first = True
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                while True:
                    for run in await self._list_unattended_runs():
                        tasks.create_task(self._finish_work(self._resume_run(run)))
                    work = await self._begin(first=first)
                    if work is not None:
                        task = tasks.create_task(self._finish_work(work))
                        await self._wait_until_free(work, task)
                    first = False
                    rest = REST_SECONDS * self._chance.uniform(0.5, 1.5)
                    await self._sleep(LIMIT_REST_SECONDS if self._is_at_limit else rest)
        except* KeyRejected:
            logger.info("The key of %s is no longer valid", self._profile.name)

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._time_factor)

    async def _wait_until_free(self, work: Work, task: asyncio.Task[None]) -> None:
        """Until the run ends, or has waited for long and there is room for another."""
        alone = asyncio.ensure_future(work.left_alone.wait())
        try:
            await asyncio.wait({task, alone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alone.cancel()
        while not task.done() and self._slots.full:
            await self._sleep(REST_SECONDS)

    async def _list_unattended_runs(self) -> list[dict[str, Any]]:
        """Runs of ours that nobody works on: left by a restart, or reopened."""
        found = []
        for status in ("paused", "running"):
            answer = await self._client.get("runs", status=status, limit=20)
            for run in answer.body["items"] if answer.ok else ():
                silence = datetime.now(UTC) - datetime.fromisoformat(run["updated_at"])
                left = status == "paused" or silence > SILENT
                if left and run["id"] not in self._works:
                    found.append(run)
        return found

    def _resume_run(self, run: dict[str, Any]) -> Work:
        """Continue a run that was left: only its ending is played."""
        plan = RunPlan(self._profile, chance=self._chance, troubled=False)
        plan.continue_after_ruling()
        return self._create_work(
            run, plan, last_step=run["last_step"], waiting=run["status"] == "paused"
        )

    async def _start_child(
        self, parent: str, profile: Profile
    ) -> asyncio.Task[None] | None:
        """A run below another one; nobody is needed for it."""
        plan = RunPlan(profile, chance=self._chance, troubled=False)
        work = await self._start(plan, parent_run=parent)
        if work is None or self._tasks is None:
            return None
        return self._tasks.create_task(self._finish_work(work))

    async def _begin(self, *, first: bool) -> Work | None:
        troubled = first or self._chance.random() < TROUBLE_SHARE
        plan = RunPlan(
            self._profile,
            chance=self._chance,
            troubled=troubled and not self._slots.full,
        )
        return await self._start(plan, hasty=first)

    async def _start(
        self, plan: RunPlan, *, parent_run: str | None = None, hasty: bool = False
    ) -> Work | None:
        body = {
            "task": plan.task.text,
            "intent": plan.profile.intent,
            "model": "demo",
            "labels": plan.task.labels,
            "budget": plan.budget,
            "parent_run": parent_run,
        }
        answer = await self._client.post("runs", body)
        self._is_at_limit = answer.problem == "limit-reached"
        if self._is_at_limit:
            return None
        if not answer.ok:
            self._counts.errors += 1
            logger.warning("A demo run was refused: %s", answer.body.get("detail"))
            return None
        self._counts.runs += 1
        return self._create_work(answer.body, plan, hasty=hasty)

    def _create_work(self, run: dict[str, Any], plan: RunPlan, **more: Any) -> Work:
        work = self._works[run["id"]] = Work(
            run=run["id"],
            plan=plan,
            client=self._client,
            counts=self._counts,
            chance=self._chance,
            time_factor=self._time_factor,
            start_child=self._start_child,
            **more,
        )
        if work.needs_person:
            self._slots.take()
        return work

    async def _finish_work(self, work: Work) -> None:
        """Work until the run ends; a defect of ours costs this run, not the agent."""
        try:
            await work.finish()
        except (KeyError, TypeError, ValueError):
            logger.exception("%s left a run", self._profile.name)
        finally:
            del self._works[work.run]
            if work.needs_person:
                self._slots.release()
