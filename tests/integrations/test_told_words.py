"""What a reviewer changed reaches the model beside the result, and an approval's note,
whatever kind of result it is."""

from __future__ import annotations

from typing import Any

import pytest
from agents import Agent, RunConfig, ShellTool
from agents.testing import ScriptedModel as ScriptedTurns
from checkrail import AsyncCheckrail, Checkrail
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langgraph import drive
from checkrail.integrations.openai_agents import guarded, run_with_checkrail
from checkrail.testing import amend, approve, fake_checkrail
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolErrorMiddleware
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.integrations.scripted import ScriptedModel, calls, recorder, says
from tests.integrations.test_langchain_seams import (
    build_graph,
    by_async_callback,
    by_async_driving,
    by_callback,
    by_driving,
)
from tests.integrations.test_langgraph import thread
from tests.integrations.test_notes import RM, SILENT, TIDY_UP, tool_messages
from tests.integrations.test_openai_agents import Scene, shell
from tests.integrations.test_openai_reach import (
    build_hosted,
    build_made,
    build_request,
    build_shell,
    script,
    wants_shell,
)

ASK = "require-confirmation"
INSTEAD = {"command": "rm -ri build"}
CHANGED = amend(arguments=INSTEAD, note="One by one.")
CHANGE = (
    "Note: a reviewer changed the arguments of this call. It ran with "
    '{"command": "rm -ri build"} instead of {"command": "rm -rf build"}; '
    "do not repeat your own."
)
NOTE = 'alice, a reviewer, wrote: "One by one."'


def ask_langchain(tool: Any, *turns: Any, middleware: Any = ()) -> list[str]:
    """What the model is told of its calls, by a blocking agent."""
    with Checkrail().run("Tidy up") as run:
        agent = create_agent(
            ScriptedModel(script=[*(turns or [calls(RM)]), says("Done")]),
            [tool],
            middleware=[*middleware, CheckrailMiddleware(run)],
        )
        return tool_messages(agent.invoke(TIDY_UP))


def test_langchain_tells_the_change_before_the_result_and_the_note_after_it() -> None:
    ran: list[str] = []
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]) as rail:
        (told,) = ask_langchain(recorder(ran))
        (sent,) = rail.sent("POST", "/result")
    assert ran == ["rm -ri build"]
    assert told == f"{CHANGE}\n\ndone: rm -ri build\n\n{NOTE}"
    assert sent["output"] == "done: rm -ri build"


async def test_langchain_tells_them_where_it_does_not_block() -> None:
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]):
        async with AsyncCheckrail().run("Tidy up") as run:
            agent = create_agent(
                ScriptedModel(script=[calls(RM), says("Done")]),
                [recorder([])],
                middleware=[CheckrailMiddleware(run)],
            )
            (told,) = tool_messages(await agent.ainvoke(TIDY_UP))
    assert told == f"{CHANGE}\n\ndone: rm -ri build\n\n{NOTE}"


def test_langchain_tells_them_beside_blocks() -> None:
    def run_command(command: str) -> list[dict[str, str]]:
        """Run a command in a shell."""
        return [{"type": "text", "text": f"done: {command}"}]

    with (
        fake_checkrail(calls=[ASK], rulings=[CHANGED]),
        Checkrail().run("Tidy up") as run,
    ):
        agent = create_agent(
            ScriptedModel(script=[calls(RM), says("Done")]),
            [run_command],
            middleware=[CheckrailMiddleware(run)],
        )
        (message,) = [
            each
            for each in agent.invoke(TIDY_UP)["messages"]
            if isinstance(each, ToolMessage)
        ]
    texts = [block["text"] for block in message.content]  # type: ignore[index]
    assert texts == [CHANGE, "done: rm -ri build", NOTE]


def test_langchain_tells_what_a_failed_call_could_not_with_the_next() -> None:
    def run_command(command: str) -> str:
        """Run a command in a shell."""
        if command.startswith("rm"):
            raise OSError("gone")
        return f"done: {command}"

    look = calls(("run_command", {"command": "ls"}))
    tell_error = ToolErrorMiddleware(on_error=lambda error, _: str(error))
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]):
        failed, told, later = ask_langchain(
            run_command, calls(RM), look, look, middleware=[tell_error]
        )
    assert "One by one" not in failed
    assert told == f"done: ls\n\n{CHANGE}\n{NOTE}"
    assert later == "done: ls"


def test_langchain_tells_what_a_command_could_not_with_the_next() -> None:
    def run_command(command: str) -> Any:
        """Run a command in a shell."""
        told = ToolMessage("moved", tool_call_id="call-0")
        return (
            Command(update={"messages": [told]}) if command.startswith("rm") else "done"
        )

    look = calls(("run_command", {"command": "ls"}))
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]):
        first, second = ask_langchain(run_command, calls(RM), look)
    assert first == "moved"
    assert second == f"done\n\n{CHANGE}\n{NOTE}"


@pytest.mark.parametrize("ours", [True, False])
def test_langchain_tells_a_call_that_was_changed_where_the_graph_interrupts(
    ours: bool,
) -> None:
    """Of the change LangChain tells the model itself; the note is ours."""
    ran: list[str] = []
    with (
        fake_checkrail(calls=[ASK], rulings=[CHANGED]),
        Checkrail().run("Tidy up") as run,
    ):
        agent = create_agent(
            ScriptedModel(script=[calls(RM), says("Done")]),
            [recorder(ran)],
            middleware=[
                HumanInTheLoopMiddleware(interrupt_on={"run_command": True}),
                *([CheckrailMiddleware(run)] if ours else []),
            ],
            checkpointer=InMemorySaver(),
        )
        (told,) = tool_messages(drive(agent, TIDY_UP, thread(), run))
    assert ran == ["rm -ri build"]
    assert "a human reviewer replaced this tool call" in told
    assert '"rm -ri build"' in told
    assert told.endswith(f"done: rm -ri build\n\n{NOTE}")


@pytest.mark.parametrize("way", [by_callback, by_driving])
def test_a_graph_of_ones_own_is_told_a_note_with_the_result(way: Any) -> None:
    rulings = [approve("Only build.")]
    with (
        fake_checkrail(calls=[ASK], rulings=rulings),
        Checkrail().run("Tidy up") as run,
    ):
        told, later = tool_messages(way(build_graph([], "rm -rf build", "ls"), run))
    assert told == 'done\n\nalice, a reviewer, wrote: "Only build."'
    assert later == "done"


@pytest.mark.parametrize("way", [by_async_callback, by_async_driving])
async def test_an_awaited_graph_is_told_a_note_with_the_result(way: Any) -> None:
    rulings = [approve("Only build.")]
    with fake_checkrail(calls=[ASK], rulings=rulings):
        async with AsyncCheckrail().run("Tidy up") as run:
            (told,) = tool_messages(await way(build_graph([], "rm -rf build"), run))
    assert told == 'done\n\nalice, a reviewer, wrote: "Only build."'


async def test_openai_agents_are_told_to_make_the_changed_call() -> None:
    """The SDK cannot run another call than the model's: it is told which, and by whom."""
    scene = Scene([shell("rm -rf build")], [shell("rm -ri build")])
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]) as rail:
        async with AsyncCheckrail().run("Tidy up") as run:
            await run_with_checkrail(scene.agent, "Tidy up", run=run, run_config=SILENT)
        judged = rail.sent("POST", "/tool-calls")
    told, done = scene.heard()
    assert told == (
        "Not run: alice allows this call with other arguments only. To make it, call "
        f'again with exactly these: {{"command": "rm -ri build"}}. {NOTE}'
    )
    assert (scene.ran, done) == (["rm -ri build"], "done: rm -ri build")
    assert len(judged) == 1, "the changed call was granted already"


def list_said(model: ScriptedTurns) -> list[str]:
    call = model.last_call
    assert call is not None
    return [str(item["content"]) for item in call.input if item.get("role") == "user"]


async def run_openai(agent: Agent[Any]) -> list[str]:
    """What is told as a message, where the result has a form of its own."""
    rulings = [approve("Only build.")]
    with fake_checkrail(calls=[ASK], rulings=rulings):
        async with AsyncCheckrail().run("Tidy up") as run:
            config = RunConfig(tracing_disabled=True)
            await run_with_checkrail(agent, "Tidy up", run=run, run_config=config)
    assert isinstance(agent.model, ScriptedTurns)
    return list_said(agent.model)


@pytest.mark.parametrize("kind", ["shell", "hosted"])
async def test_openai_agents_are_told_a_note_beside_other_results(kind: str) -> None:
    if kind == "shell":
        tool = ShellTool(executor=build_shell([]))
        model = script(wants_shell("call-1", "rm -rf build"))
        agent: Agent[Any] = guarded(Agent("robo", model=model, tools=[tool]))
    else:
        asks = [build_request("ask-1", "rm -rf build")]
        agent = build_hosted(asks, [build_made("ask-1")])
    said = await run_openai(agent)
    assert said == ["Tidy up", 'alice, a reviewer, wrote: "Only build."']
