"""Agents that report steps or ask about calls: how many are answered, how fast."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import uvloop

from bench.clients.connection import Connection, Response, build_post_head, connect
from bench.figures import get_percentile
from bench.servers.contents import PreparedRun

WARM_UP_SECONDS = 1.0
CHECKPOINT_EVERY = 20  # sooner than the default policy asks for one
BATCH = 100
# Written once, as the client shares the machine with the server that it measures.
_STEP = (
    b'{"number": %d, "tokens": 1830, "tool_calls": 2, "duration_ms": 4200, '
    b'"cost_usd": "0.0121", "checkpoint": %s, "coherence": 0.83, "uncertainty": 0.22, '
    b'"intent": "bug-fix", '
    b'"summary": "Ran the failing test again and found where the race begins", '
    b'"signature": "bash:pytest -k login --count %d", "failed_calls": 0}'
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What agents send again and again: `steps` of them a request, whose answer has this
    status and ends so."""

    part: str
    build_body: Callable[[int], bytes]
    steps: int = 1
    status: int = 201
    ending: bytes = b""


def report_steps(url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
    """One agent per run, each waiting for its answer before the next step."""
    return report_steps_spread([(url, run) for run in runs], seconds=seconds)


def report_steps_spread(
    places: Sequence[tuple[str, PreparedRun]], *, seconds: float
) -> Load:
    """The same for runs that are each reported to a server of their own."""
    work = Work(part="steps", build_body=build_step_body)
    return uvloop.run(_run_agents(places, work, seconds))


def report_batches(url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
    """BATCH steps a request; the load counts steps."""
    work = Work(
        part="steps/batch",
        build_body=build_batch_body,
        steps=BATCH,
        status=200,
        ending=b'"accepted":%d}' % BATCH,
    )
    return uvloop.run(_run_agents([(url, run) for run in runs], work, seconds))


def judge_calls(url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
    """The same for tool calls that are let through."""
    work = Work(part="tool-calls", build_body=build_call_body)
    return uvloop.run(_run_agents([(url, run) for run in runs], work, seconds))


async def _run_agents(
    places: Sequence[tuple[str, PreparedRun]], work: Work, seconds: float
) -> Load:
    agents = [Agent(await connect(url), run, work, url=url) for url, run in places]
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
        answered=len(latencies) * work.steps,
        seconds=elapsed,
        latencies=latencies,
        refusals=sum((agent.refusals for agent in agents), Counter()),
    )


class Agent:
    """Step or call 1, 2, 3 … of one run, over one connection."""

    def __init__(
        self, connection: Connection, run: PreparedRun, work: Work, *, url: str
    ) -> None:
        self.latencies: list[float] = []
        self.refusals: Counter[int] = Counter()
        self._connection = connection
        self._run = run
        self._work = work
        self._head = build_post_head(
            f"/runs/{run.code}/{work.part}", url=url, secret=run.key
        )
        self._stopping = False
        self._sent = 0.0
        self._done = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        body = self._work.build_body(self._run.next_step)
        raw = self._head % len(body) + body
        self._sent = perf_counter()
        self._connection.send(raw, answered=self._answered, failed=self._failed)

    async def finish(self) -> None:
        self._stopping = True
        await self._done
        self._connection.close()

    def _answered(self, answer: Response) -> None:
        work = self._work
        if answer.status == work.status and answer.body.endswith(work.ending):
            self.latencies.append(perf_counter() - self._sent)
            self._run.next_step += work.steps
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
    return _STEP % (number, b"false" if number % CHECKPOINT_EVERY else b"true", number)


def build_batch_body(number: int) -> bytes:
    """BATCH steps from this one on."""
    steps = map(build_step_body, range(number, number + BATCH))
    return b'{"steps": [%s]}' % b", ".join(steps)


def build_call_body(number: int) -> bytes:
    """A command as agents run them all day: several parts, nothing to ask about."""
    text = f"cd services/login && pytest -q -k race --count {number} 2>&1 | tail -n 40"
    return json.dumps({"kind": "command", "tool": "Bash", "command": text}).encode()
