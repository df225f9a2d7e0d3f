"""What people tell a running agent reaches the model, once, as a person's words."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from agents import Agent, RunConfig
from agents.testing import ModelStep, assistant_message
from agents.testing import ScriptedModel as ScriptedTurns
from checkrail import AsyncCheckrail, Checkrail
from checkrail.answers import ReviewRef
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langgraph import drive
from checkrail.integrations.openai_agents import run_with_checkrail
from checkrail.mcp.session import Session
from checkrail.testing import approve, fake_checkrail
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from tests.integrations.scripted import ScriptedModel, calls, recorder, says
from tests.integrations.test_langgraph import thread
from tests.integrations.test_mcp import in_memory
from tests.integrations.test_notes import RM, TIDY_UP, tool_messages
from tests.integrations.test_openai_agents import Scene, shell
from tests.reviews.agent_notes.telling import check_ledger, list_states, tell
from tests.support.people import rule
from tests.support.threads import tidily

SILENT = RunConfig(tracing_disabled=True)
QUOTED = 'Note (scope): alice, a reviewer, wrote: "Keep dist."'


def people_said(result: dict[str, Any]) -> list[str]:
    return [str(m.content) for m in result["messages"] if isinstance(m, HumanMessage)]


def test_langchain_tells_it_with_the_next_result() -> None:
    with fake_checkrail() as rail, Checkrail().run("Tidy up") as run:
        agent = create_agent(
            ScriptedModel(script=[calls(RM), calls(RM), says("Done")]),
            [recorder([])],
            middleware=[CheckrailMiddleware(run)],
        )
        rail.tell("Keep dist.", tags=["scope"])
        result = agent.invoke(TIDY_UP)
        first, second = tool_messages(result)
        assert people_said(result) == ["Tidy up"]
    assert QUOTED in first
    assert "Keep dist" not in second


def test_langchain_goes_on_with_what_comes_at_the_end() -> None:
    with fake_checkrail() as rail, Checkrail().run("Tidy up") as run:
        agent = create_agent(
            ScriptedModel(script=[says("Done"), says("Kept it")]),
            [recorder([])],
            middleware=[CheckrailMiddleware(run)],
        )
        rail.tell("Keep dist.", tags=["scope"])
        result = agent.invoke(TIDY_UP)
    assert people_said(result) == ["Tidy up", QUOTED]
    assert result["messages"][-1].content == "Kept it"


async def test_the_same_where_langchain_does_not_block() -> None:
    with fake_checkrail() as rail:
        async with AsyncCheckrail().run("Tidy up") as run:
            agent = create_agent(
                ScriptedModel(script=[calls(RM), says("Done"), says("Kept it")]),
                [recorder([])],
                middleware=[CheckrailMiddleware(run)],
            )
            rail.tell("Keep dist.", tags=["scope"])
            result = await agent.ainvoke(TIDY_UP)
    (told,) = tool_messages(result)
    assert QUOTED in told
    assert result["messages"][-1].content == "Done"


def test_langgraph_tells_it_after_an_interrupt() -> None:
    with (
        fake_checkrail(rulings=[approve()]) as rail,
        Checkrail().run("Tidy up") as run,
    ):
        agent = create_agent(
            ScriptedModel(script=[calls(RM), says("Done")]),
            [recorder([])],
            middleware=[
                HumanInTheLoopMiddleware(interrupt_on={"run_command": True}),
                CheckrailMiddleware(run),
            ],
            checkpointer=InMemorySaver(),
        )
        rail.tell("Keep dist.", tags=["scope"])
        (told,) = tool_messages(drive(agent, TIDY_UP, thread(), run))
    assert told.count("Keep dist") == 1


async def test_openai_agents_read_it_with_the_result() -> None:
    scene = Scene([shell("rm -rf build")])
    with fake_checkrail() as rail:
        async with AsyncCheckrail().run("Tidy up") as run:
            rail.tell("Keep dist.", tags=["scope"])
            await run_with_checkrail(scene.agent, "Tidy up", run=run, run_config=SILENT)
    (told,) = scene.heard()
    assert told.count(QUOTED) == 1


async def test_openai_agents_go_on_with_what_comes_at_the_end(
    async_checkrail: AsyncCheckrail, reviewer: httpx.Client
) -> None:
    """Against the server: it comes with the answer to the last turn, and the next reads it."""
    turns = [ModelStep(output=[assistant_message(words)]) for words in ("Done", "Kept")]
    model = ScriptedTurns(turns)
    async with async_checkrail.run("Tidy up") as run:
        tell(reviewer, run.id, "Keep dist.", tags=["scope"])
        result = await run_with_checkrail(
            Agent(name="robo", model=model), "Tidy up", run=run, run_config=SILENT
        )
    assert result.final_output == "Kept"
    first, second = (json.dumps(call.input) for call in model.calls)
    assert "Keep dist" not in first
    assert second.count('a reviewer, wrote: \\"Keep dist.\\"') == 1
    assert list_states(reviewer, run.id) == ["read"]
    await asyncio.to_thread(tidily, check_ledger, run.id)


async def test_openai_agents_go_on_after_a_ruling_with_a_note(
    async_checkrail: AsyncCheckrail, reviewer: httpx.Client
) -> None:
    scene = Scene([shell("rm -rf build")], [shell("ls")])

    def answer(asked: ReviewRef) -> None:
        tell(reviewer, run.id, "Keep dist.")
        rule(reviewer, asked.id, "approve")

    async with async_checkrail.run("Tidy up", on_wait=answer) as run:
        await run_with_checkrail(scene.agent, "Tidy up", run=run, run_config=SILENT)
    told, later = scene.heard()
    assert told.count('a reviewer, wrote: "Keep dist."') == 1
    assert "Keep dist" not in later
    assert list_states(reviewer, run.id) == ["read"]


async def test_tools_over_mcp_tell_it_once(
    async_checkrail: AsyncCheckrail, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run: str = agent.post("/runs", json={"task": "Tidy up"}).json()["id"]
    async with in_memory(Session(async_checkrail, run_id=run)) as call:

        async def heard(tool: str, /, **arguments: Any) -> list[str]:
            notes = (await call(tool, **arguments))["notes"]
            return [note["text"] for note in notes]

        tell(reviewer, run, "With a step", tags=["scope"])
        (note,) = (await call("report_step", tokens=5))["notes"]
        assert (note["text"], note["tags"]) == ("With a step", ["scope"])
        assert note["by"]
        assert note["at"]
        tell(reviewer, run, "With a call")
        arguments = {"command": "ls"}
        asked = {"tool": "Bash", "arguments": arguments}
        assert await heard("check_tool_call", **asked) == ["With a call"]
        assert await heard("check_tool_call", **asked) == []
        wish = await call("request_approval", title="May I?")
        tell(reviewer, run, "With a decision")
        rule(reviewer, str(wish["id"]).removeprefix("review-"), "approve")
        assert await heard("get_decision", id=wish["id"]) == ["With a decision"]
        assert await heard("get_decision", id=wish["id"]) == []
        assert await heard("report_step", tokens=5) == []
    assert list_states(reviewer, run) == ["read"] * 3
    await asyncio.to_thread(tidily, check_ledger, run)
