"""An agent of the real langchain with our middleware, against the live server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import AsyncCheckrail, Checkrail, StillWaiting, Stopped, Unreachable
from checkrail.integrations.langchain import CheckrailMiddleware
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from tests.integrations.people import Reviewer, amend, approve, deny
from tests.integrations.scripted import ScriptedModel, calls, recorder, says

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
TIDY_UP: Any = {"messages": ["Tidy up"]}
THREAD: Any = {"configurable": {"thread_id": "1"}}


def list_tool_messages(result: dict[str, Any]) -> list[ToolMessage]:
    return [m for m in result["messages"] if isinstance(m, ToolMessage)]


def test_calls_are_judged_and_turns_are_steps(
    checkrail: Checkrail, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    ran: list[str] = []
    commands = ["ls", f"echo {SECRET}", "rm -rf build", "rm -rf dist", "rm -rf src"]
    script = [calls(("run_command", {"command": command})) for command in commands]
    person = Reviewer(
        reviewer, approve(), amend({"command": "rm -ri dist"}), deny("Keep it.")
    )
    with checkrail.run("Tidy up", on_wait=person) as run:
        rails = create_agent(
            ScriptedModel(script=[*script, says("Done.")]),
            [recorder(ran)],
            middleware=[CheckrailMiddleware(run)],
        )
        messages = list_tool_messages(rails.invoke(TIDY_UP))

    assert ran == ["ls", "rm -rf build", "rm -ri dist"]
    assert [m.status for m in messages] == [
        "success",
        "error",
        "success",
        "success",
        "error",
    ]
    assert "secret" in messages[1].content
    assert "done: rm -ri dist" in messages[3].content
    assert "changed the arguments" in messages[3].content
    assert "Keep it." in messages[4].content

    stands = agent.get(f"/runs/{run.id}").json()
    assert (stands["status"], stands["steps"]) == ("completed", 6)
    assert stands["budget"]["tokens"]["used"] == 550
    assert stands["budget"]["tool_calls"]["used"] == 3
    entries = agent.get(f"/runs/{run.id}/ledger").text
    assert entries.count('"call.claimed"') == entries.count('"call.settled"') == 3
    assert "run_command:{" in entries


async def test_asynchronously_with_either_run(
    checkrail: Checkrail, async_checkrail: AsyncCheckrail, reviewer: httpx.Client
) -> None:
    """Calls of one turn are judged side by side; a tool that fails is told as failed."""

    def fail(path: str) -> str:
        """Fail."""
        raise OSError(path)

    ran: list[str] = []
    pair = calls(
        ("run_command", {"command": "rm -rf a"}),
        ("run_command", {"command": "rm -rf b"}),
    )
    person = Reviewer(reviewer, approve(), approve(), approve(), approve())
    runs = (
        checkrail.run("Tidy up", on_wait=person),
        await async_checkrail.run("Tidy up", on_wait=person),
    )
    for run in runs:
        rails = create_agent(
            ScriptedModel(script=[pair, calls(("fail", {"path": "gone"}))]),
            [recorder(ran), fail],
            middleware=[CheckrailMiddleware(run)],
        )
        with pytest.raises(OSError, match="gone"):
            await rails.ainvoke(TIDY_UP)
        ledger = reviewer.get(f"/runs/{run.id}/ledger").text
        assert ledger.count('"ok":false') == 1
    assert sorted(ran) == ["rm -rf a", "rm -rf a", "rm -rf b", "rm -rf b"]

    with pytest.raises(TypeError, match="ainvoke"):
        rails.invoke(TIDY_UP)
    runs[0].close()
    await runs[1].close()


def test_an_agent_that_starts_again(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """It gives up waiting, comes back, and a tool of its own interrupts on the way."""
    ran: list[str] = []

    def wipe(command: str) -> str:
        """Delete something, after asking once more."""
        ran.append(f"{command}, {interrupt('Really?')}")
        return "gone"

    model = ScriptedModel(
        script=[calls(("wipe", {"command": "rm -rf build"})), says("Done.")]
    )
    run = checkrail.run("Tidy up")
    rails = create_agent(
        model,
        [wipe],
        middleware=[CheckrailMiddleware(run, timeout=0)],
        checkpointer=InMemorySaver(),
    )
    with pytest.raises(StillWaiting):
        rails.invoke(TIDY_UP, THREAD)
    assert ran == []

    run.on_wait = person = Reviewer(reviewer, approve())
    assert rails.invoke(None, THREAD)["__interrupt__"][0].value == "Really?"
    rails.invoke(Command(resume="yes"), THREAD)
    assert ran == ["rm -rf build, yes"]
    assert len(person.asked) == 1
    run.finish()


def test_a_stop_and_an_outage_end_the_agent(checkrail: Checkrail) -> None:
    """Nothing more runs: neither after a stop, nor when nobody can be asked."""
    ran: list[str] = []
    script = [calls(("run_command", {"command": "ls"}), tokens=5_000), says("Done.")]
    with checkrail.run("Tidy up", budget={"tokens": 1_000}) as run:
        rails = create_agent(
            ScriptedModel(script=script),
            [recorder(ran)],
            middleware=[CheckrailMiddleware(run)],
        )
        with pytest.raises(Stopped):
            rails.invoke(TIDY_UP)
    nowhere = Checkrail("http://127.0.0.1:9", "crk_x", retry_seconds=0)
    other = type(run)(nowhere.driver)
    other.store_state(run.state)
    rails = create_agent(
        ScriptedModel(script=script),
        [recorder(ran)],
        middleware=[CheckrailMiddleware(other)],
    )
    with pytest.raises(Unreachable):
        rails.invoke(TIDY_UP)
    assert ran == []
