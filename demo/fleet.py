"""The fleet: all demo agents on one thread, with an event loop of their own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from random import Random

import httpx

from demo.agents.agent import Agent, ReviewSlots
from demo.agents.profiles import get_profile
from demo.agents.run import WAIT_SECONDS, Work
from demo.client import Client, Counts, KeyRejected, Outage

# About as many reviews as a screen holds.
REVIEWS_AT_ONCE = 14
STOP_SECONDS = 5.0
FINISH_SECONDS = 3.0
RETRY_SECONDS = 10.0

logger = logging.getLogger(__name__)


class Fleet:
    """Agents by name and key. `time_factor` multiplies every pause of theirs."""

    def __init__(
        self, keys: Mapping[str, str], *, seed: int = 1, time_factor: float = 1.0
    ) -> None:
        self.counts = Counts()
        self._keys = dict(keys)
        self._seed = seed
        self._time_factor = time_factor
        self._finish_runs = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ended = asyncio.Event()

    @property
    def size(self) -> int:
        return len(self._keys)

    def start(self, url: str) -> None:
        """Set to work against the server at this URL; returns at once."""
        if self._thread is not None:
            raise RuntimeError("The fleet is at work already.")
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._run, args=(loop, url), name="fleet", daemon=True
        )
        self._thread.start()

    def stop(self, *, finish_runs: bool = False) -> None:
        """End all agents; with `finish_runs` their running runs are finished first."""
        if self._thread is None or self._loop is None or not self._thread.is_alive():
            return
        self._finish_runs = finish_runs
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(timeout=STOP_SECONDS)

    def _run(self, loop: asyncio.AbstractEventLoop, url: str) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._run_agents(url))

    async def _run_agents(self, url: str) -> None:
        async with httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/api/v1/",
            timeout=httpx.Timeout(10, read=WAIT_SECONDS + 15),
            limits=httpx.Limits(max_connections=None),
            # The server is ours: a proxy of the environment has no part in this.
            trust_env=False,
        ) as client:
            agents = self._create_agents(client)
            tasks = [asyncio.create_task(_run_agent(agent)) for agent in agents]
            await self._ended.wait()
            # Noted before the tasks end: they let go of their runs.
            running = [work for agent in agents for work in agent.running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._finish_runs:
                await _finish_runs(running)

    def _create_agents(self, client: httpx.AsyncClient) -> list[Agent]:
        slots, outage = ReviewSlots(REVIEWS_AT_ONCE), Outage()
        return [
            Agent(
                profile=get_profile(name, index=index),
                client=Client(http=client, key=key, counts=self.counts, outage=outage),
                slots=slots,
                counts=self.counts,
                # Chance for a demo, the same at every start; nothing secret in it.
                chance=Random(f"{self._seed}:{name}"),  # noqa: S311
                time_factor=self._time_factor,
            )
            for index, (name, key) in enumerate(self._keys.items())
        ]


async def _run_agent(agent: Agent) -> None:
    """An agent that fails is our defect; it is logged, and the agent begins anew."""
    while True:
        try:
            await agent.run_forever()
        except Exception:
            logger.exception("A demo agent failed")
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return


async def _finish_runs(running: list[Work]) -> None:
    try:
        async with asyncio.timeout(FINISH_SECONDS):
            await asyncio.gather(*(work.report_failure() for work in running))
    except (TimeoutError, KeyRejected):
        logger.warning("Some simulated runs could not be finished")
