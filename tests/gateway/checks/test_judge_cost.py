"""What the judge is asked costs money, whatever comes back: it is written down, counts for
its run and for its day, and is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest

from accounts.models import Project
from reviews.models import ModelRequest
from reviews.selectors import ModelCost, get_model_cost_of_project
from tests.gateway.checks.test_judge_flows import (
    GATES,
    PASS,
    TESTED,
    WORK,
    ask,
    claim,
    in_both_formats,
    say,
)
from tests.gateway.llm.models import (
    Behaviour,
    breaks_off,
    drips,
    envelope,
    hangs,
    hangs_up,
    http,
    judges,
    model,
    says,
)
from tests.support.builders import make_policy, start_run, step
from tests.support.threads import tidily

pytestmark = pytest.mark.once(
    "talks to a model; rows and entries are compared with each other on both databases"
)

BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
# A hundred tokens in and seven out, at the prices of the stand-in.
READ = 320
# By the prices of the stand-in: so many tokens as the answer may have.
MOST_OUT = 8_192 * 10


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    patient = {**GATES["judged"], "retry": {"max_attempts": 20}}
    make_policy("judged", project=project, gates={"judged": patient})
    return start_run(agent, policy="judged")


def list_asked(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry for entry in entries if entry["type"] == "model.asked"]


async def get_cost(project: Project) -> ModelCost:
    read = partial(get_model_cost_of_project, project.pk, since=BEGAN)
    return await asyncio.to_thread(tidily, read)


def get_used(agent: httpx.Client, run: str) -> str:
    used: str = agent.get(f"/runs/{run}").json()["budget"]["cost_usd"]["used"]
    return used


@in_both_formats
async def test_an_answer_costs_what_its_usage_says(
    agent: httpx.Client, project: Project, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    async with model(wire, judges(wire, met=[TESTED])):
        assert (await claim(agent, run, check))["outcome"] == "passed"
    (entry,) = list_asked(agent, run)
    assert entry["actor"] == "system:judge"
    assert entry["payload"] == {
        "purpose": "judge",
        "check": check["id"],
        "model": "stand-in-1",
        "tokens_in": 100,
        "tokens_out": 7,
        "cost_micros": READ,
        "trouble": None,
    }
    assert get_used(agent, run) == "0.00032"
    assert await get_cost(project) == ModelCost(
        requests=1, cost_micros=READ, unpriced=0
    )
    agent.post(f"/runs/{run}/steps", json=step(1, cost_usd="0.40"))
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    last = json.loads(agent.get(f"/runs/{run}/ledger").text.splitlines()[-1])
    assert last["payload"]["cost"] == {"reported_micros": 400_000, "asked_micros": READ}
    assert agent.get(f"/runs/{run}/verify").json()["ok"]


# What came back, and whether it says what it took.
UNREADABLE: dict[str, Callable[[str], Behaviour]] = {
    "no usage": lambda wire: http(envelope(wire, "{}", usage=None)),
    "no model named": lambda wire: http(envelope(wire, "{}", model=None)),
    "prose": lambda wire: says(wire, "All passed."),
    "no JSON": lambda wire: http(b"<html>", kind="text/html"),
    "an error": lambda wire: http(b"no", status=400),
    "compressed": lambda wire: http(b"x", content_encoding="gzip"),
    "hangs up": lambda wire: hangs_up,
    "breaks off": lambda wire: breaks_off,
    "never answers": lambda wire: hangs,
    "never ends": lambda wire: drips,
}
TELLS_USAGE = {"prose", "no model named"}
SLOW = {"never answers", "never ends"}


@in_both_formats
async def test_an_unreadable_reply_of_the_judge_is_not_free(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    for name, behaviour in UNREADABLE.items():
        async with model(wire, behaviour(wire), timeout_s=0.3 if name in SLOW else 60):
            assert (await claim(agent, run, check))["outcome"] == "retry", name
        payload = list_asked(agent, run)[-1]["payload"]
        assert payload["trouble"], name
        if name in TELLS_USAGE:
            assert payload["cost_micros"] == READ, name
        else:
            assert payload["cost_micros"] > MOST_OUT, name
    asked = list_asked(agent, run)
    assert len(asked) == len(UNREADABLE)
    total = sum(entry["payload"]["cost_micros"] for entry in asked)
    assert get_used(agent, run) == f"{total / 1_000_000:.6f}".rstrip("0")


@in_both_formats
async def test_an_answer_that_our_own_code_fails_on_is_paid_for(
    agent: httpx.Client, run: str, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("gateway.llm.judge._Case.build_judgement", fail)
    check = ask(agent, run, "judged")
    async with model(wire, judges(wire, met=[TESTED])):
        told = await claim(agent, run, check)
    assert told["outcome"] == "retry"
    assert "could not be read: ZeroDivisionError" in told["prompt"]
    (entry,) = list_asked(agent, run)
    assert entry["payload"]["cost_micros"] == READ


async def test_a_request_that_is_sent_again_asks_nobody(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "judged")
    key = {"Idempotency-Key": "once"}
    async with model("openai", judges("openai", met=[TESTED])) as judge:
        first = await say(agent, run, check, headers=key)
        again = await say(agent, run, check, headers=key)
    assert again.content == first.content
    assert len(judge.asked) == len(list_asked(agent, run)) == 1


async def test_without_a_price_the_cost_is_unknown_and_not_nothing(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "judged")
    async with model("openai", judges("openai", met=[TESTED]), prices=None):
        await claim(agent, run, check)
    (entry,) = list_asked(agent, run)
    assert entry["payload"]["cost_micros"] is None
    assert (entry["payload"]["tokens_in"], get_used(agent, run)) == (100, "0.00")


async def test_what_was_asked_for_a_run_that_ended_meanwhile_counts_for_its_day(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, run: str
) -> None:
    check = ask(agent, run, "judged")

    async def end_run(*given: Any) -> None:
        path = f"/runs/{run}/abort"
        ended = await asyncio.to_thread(reviewer.post, path, json={"reason": "no"})
        assert ended.status_code == 200, ended.text
        await judges("openai", met=[TESTED])(*given)

    async with model("openai", end_run):
        refused = await say(agent, run, check)
    assert refused.status_code == 409
    row = await ModelRequest.objects.aget(run__code=run)
    assert (row.seq, row.cost_micros, list_asked(agent, run)) == (None, READ, [])
    assert await get_cost(project) == ModelCost(
        requests=1, cost_micros=READ, unpriced=0
    )
    assert agent.get(f"/runs/{run}/verify").json()["ok"]


async def test_an_agent_that_hangs_up_does_not_make_the_question_free(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "judged")
    asked_judge, hung_up = asyncio.Event(), asyncio.Event()

    async def wait(*given: Any) -> None:
        asked_judge.set()
        await hung_up.wait()
        await judges("openai", met=[TESTED])(*given)

    caller = httpx.AsyncClient(base_url=agent.base_url, headers=agent.headers)
    async with model("openai", wait), caller:
        path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
        body = {"text": PASS, "output": WORK}
        telling = asyncio.create_task(caller.post(path, json=body))
        async with asyncio.timeout(60):
            await asked_judge.wait()
        telling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await telling
        for _ in range(2):  # what came before is noticed before these are answered
            await asyncio.to_thread(agent.get, f"/runs/{run}")
        hung_up.set()
        async with asyncio.timeout(60):
            while not (asked := await asyncio.to_thread(list_asked, agent, run)):
                await asyncio.sleep(0.05)
    assert asked[0]["payload"]["cost_micros"] == READ
