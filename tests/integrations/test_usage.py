"""Frameworks report tokens, cost and time by themselves, with the prices of the policy."""

from __future__ import annotations

import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from agents.items import ModelResponse
from agents.usage import Usage as AgentsUsage
from checkrail import AsyncCheckrail, Checkrail, Stopped
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langchain_callbacks import (
    AsyncCheckrailCallback,
    CheckrailCallback,
)
from checkrail.integrations.openai_agents import CheckrailHooks
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from openai.types.responses.response_usage import InputTokensDetails

from accounts.models import Project
from tests.integrations.scripted import ScriptedModel
from tests.support.builders import make_policy

pytestmark = pytest.mark.once("what a framework gives; steps are stored as any other")

PRICES = {
    "some-model": {
        "input_usd": "3.00",
        "output_usd": "15.00",
        "cached_input_usd": "0.30",
    }
}
# 300 × 3 + 600 × 0.3 + 200 × 15 millionths of a dollar.
COST = 4_080
SAID = AIMessage(
    content="Done.",
    usage_metadata={
        "input_tokens": 900,
        "output_tokens": 200,
        "total_tokens": 1_100,
        "input_token_details": {"cache_read": 600},
    },
    response_metadata={"model_name": "some-model-2026-10-01"},
)
ASKED: Any = {"messages": ["Work"]}


@pytest.fixture(autouse=True)
def priced(project: Project) -> None:
    make_policy("default", project=project, prices={"models": PRICES})


def list_steps(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    entries = [json.loads(line) for line in lines]
    return [e["payload"]["report"] for e in entries if e["type"] == "step.judged"]


def build_graph(*, turns: int = 1) -> Any:
    """A graph of one's own: a node asks a model, and again."""
    model = ScriptedModel(script=[SAID] * 9)
    graph = StateGraph(MessagesState)

    def ask(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def ask_async(state: MessagesState, config: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"], config)]}

    names = [f"turn {number}" for number in range(turns)]
    for name in names:
        graph.add_node(name, RunnableLambda(ask, afunc=ask_async))
    graph.add_edge(START, names[0])
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    return graph.compile()


def test_langchains_agents(checkrail: Checkrail, agent: httpx.Client) -> None:
    with checkrail.run("Work", model="some-model") as run:
        rails = create_agent(
            ScriptedModel(script=[SAID]), [], middleware=[CheckrailMiddleware(run)]
        )
        rails.invoke(ASKED)
    (step,) = list_steps(agent, run.id)
    assert (step["tokens"], step["cost_micros"]) == (1_100, COST)


def test_a_graph_of_ones_own_by_callbacks(
    checkrail: Checkrail, agent: httpx.Client
) -> None:
    with checkrail.run("Work", model="some-model") as run:
        build_graph(turns=2).invoke(ASKED, {"callbacks": [CheckrailCallback(run)]})
    steps = list_steps(agent, run.id)
    assert [step["cost_micros"] for step in steps] == [COST, COST]
    assert {step["summary"] for step in steps} == {"Done."}


async def test_a_graph_that_is_awaited(
    async_checkrail: AsyncCheckrail, agent: httpx.Client
) -> None:
    async with async_checkrail.run("Work", model="some-model") as run:
        callbacks = [AsyncCheckrailCallback(run)]
        await build_graph().ainvoke(ASKED, {"callbacks": callbacks})
    (step,) = list_steps(agent, run.id)
    assert step["cost_micros"] == COST


def test_a_stop_leaves_the_graph(checkrail: Checkrail, agent: httpx.Client) -> None:
    """And is not swallowed, as what a callback raises usually is."""
    run = checkrail.run("Work", model="some-model", budget={"cost_usd": "0.0041"})
    with pytest.raises(Stopped, match="Cost used up"):
        build_graph(turns=5).invoke(ASKED, {"callbacks": [CheckrailCallback(run)]})
    assert len(list_steps(agent, run.id)) == 2
    run.close()


async def test_openais_agents(checkrail: Checkrail, agent: httpx.Client) -> None:
    usage = AgentsUsage(
        requests=1,
        input_tokens=900,
        output_tokens=200,
        total_tokens=1_100,
        input_tokens_details=InputTokensDetails(
            cached_tokens=600, cache_write_tokens=0
        ),
    )
    response = ModelResponse(output=[], usage=usage, response_id=None)
    context: Any = SimpleNamespace()
    # By the name that the agent has for its model, else by the run's.
    own: Any = SimpleNamespace(model="some-model")
    other: Any = SimpleNamespace(model=None)
    with checkrail.run("Work", model="some-model") as run:
        hooks = CheckrailHooks(run)
        await hooks.on_llm_end(context, own, response)
        await hooks.on_llm_end(context, other, response)
        own.model = "elsewhere"
        await hooks.on_llm_end(context, own, response)
    steps = list_steps(agent, run.id)
    assert [step["cost_micros"] for step in steps] == [COST, COST, 0]
