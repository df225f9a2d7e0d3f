"""Agents that report steps or ask about calls: how many are answered, how fast."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import uvloop

from bench.clients.connection import Connection, Response, build_request, connect
from bench.figures import get_percentile
from bench.servers.contents import PreparedRun

WARM_UP_SECONDS = 1.0
CHECKPOINT_EVERY = 20  # sooner than the default policy asks for one


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a fleet of agents got done. Anything but 201 is in `refused`."""

    answered: int
    seconds: float
    latencies: Sequence[float]
    refusals: Counter[int]

    @property
    def rate(self) -> float:
        return self.answered / self.seconds

    def get_latency(self, part: float) -> float:
        return get_percentile(self.latencies, part)


BuildBody = Callable[[PreparedRun], tuple[str, bytes]]


def report_steps(url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
    """One agent per run, each waiting for its answer before the next step."""
    return uvloop.run(_run_agents(url, runs, seconds, says=_build_step))


def judge_calls(url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
    """The same for tool calls that are let through."""
    return uvloop.run(_run_agents(url, runs, seconds, says=_build_call))


def _build_step(run: PreparedRun) -> tuple[str, bytes]:
    return "steps", build_step_body(run.next_step)


def _build_call(run: PreparedRun) -> tuple[str, bytes]:
    return "tool-calls", build_call_body(run.next_step)


async def _run_agents(
    url: str, runs: Sequence[PreparedRun], seconds: float, *, says: BuildBody
) -> Load:
    agents = [Agent(await connect(url), run, url=url, says=says) for run in runs]
    for agent in agents:
        agent.start()
    await asyncio.sleep(WARM_UP_SECONDS)
    began = perf_counter()
    for agent in agents:
        agent.latencies.clear()
    await asyncio.sleep(seconds)
    elapsed = perf_counter() - began
    latencies = [value for agent in agents for value in agent.latencies]
    # The last step of each is answered before we leave: its number is known then.
    await asyncio.gather(*(agent.finish() for agent in agents))
    return Load(
        answered=len(latencies),
        seconds=elapsed,
        latencies=latencies,
        refusals=sum((agent.refusals for agent in agents), Counter()),
    )


class Agent:
    """Step or call 1, 2, 3 … of one run, over one connection."""

    def __init__(
        self, connection: Connection, run: PreparedRun, *, url: str, says: BuildBody
    ) -> None:
        self.latencies: list[float] = []
        self.refusals: Counter[int] = Counter()
        self._connection = connection
        self._run = run
        self._url = url
        self._says = says
        self._stopping = False
        self._sent = 0.0
        self._done = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        part, body = self._says(self._run)
        path = f"/runs/{self._run.code}/{part}"
        raw = build_request(
            "POST", path, url=self._url, secret=self._run.key, body=body
        )
        self._sent = perf_counter()
        self._connection.send(raw, answered=self._answered, failed=self._failed)

    async def finish(self) -> None:
        self._stopping = True
        await self._done
        self._connection.close()

    def _answered(self, answer: Response) -> None:
        if answer.status == 201:
            self.latencies.append(perf_counter() - self._sent)
            self._run.next_step += 1
        else:
            self.refusals[answer.status] += 1
        if self._stopping:
            self._done.set_result(None)
        else:
            self.start()

    def _failed(self, error: Exception) -> None:
        self._done.set_exception(error)


def build_step_body(number: int) -> bytes:
    """A step as agents report them: nothing in it makes a gate trip."""
    return json.dumps(
        {
            "number": number,
            "tokens": 1830,
            "tool_calls": 2,
            "duration_ms": 4200,
            "cost_usd": "0.0121",
            "checkpoint": number % CHECKPOINT_EVERY == 0,
            "coherence": 0.83,
            "uncertainty": 0.22,
            "intent": "bug-fix",
            "summary": "Ran the failing test again and found where the race begins",
            "signature": f"bash:pytest -k login --count {number}",
            "failed_calls": 0,
        }
    ).encode()


def build_call_body(number: int) -> bytes:
    """A command as agents run them all day: several parts, nothing to ask about."""
    text = f"cd services/login && pytest -q -k race --count {number} 2>&1 | tail -n 40"
    return json.dumps({"kind": "command", "tool": "Bash", "command": text}).encode()
