"""What people tell a running agent reaches the model, once, as a person's words."""

from __future__ import annotations

from typing import Any

from agents import RunConfig
from checkrail import AsyncCheckrail, Checkrail
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langgraph import drive
from checkrail.integrations.openai_agents import run_with_checkrail
from checkrail.testing import approve, fake_checkrail
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from tests.integrations.scripted import ScriptedModel, calls, recorder, says
from tests.integrations.test_langgraph import thread
from tests.integrations.test_notes import RM, TIDY_UP, tool_messages
from tests.integrations.test_openai_agents import Scene, shell

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
