"""Graphs that interrupt, driven by the real langgraph against the live server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import AsyncCheckrail, Checkrail, StillWaiting
from checkrail.integrations.interrupts import CannotAnswer, UnknownInterrupt
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langgraph import adrive, drive, resolve_interrupts
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from tests.integrations.people import Reviewer, amend, answer, approve, deny
from tests.integrations.scripted import ScriptedModel, calls, recorder, says

EVERYTHING = {
    "allow_accept": True,
    "allow_edit": True,
    "allow_ignore": True,
    "allow_respond": True,
}
RM = {"command": "rm -rf build"}


class Answers(TypedDict, total=False):
    got: Any


def inbox(action: str, args: dict[str, Any], **allowed: bool) -> dict[str, Any]:
    return {
        "action_request": {"action": action, "args": args},
        "config": {**EVERYTHING, **allowed},
        "description": "Please look at this.",
    }


def asking(*values: Any) -> Any:
    """A graph with one node that interrupts with each value in turn."""

    def node(state: Answers) -> Answers:
        return {"got": [interrupt(value) for value in values]}

    graph = StateGraph(Answers)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    return graph.compile(checkpointer=InMemorySaver())


def thread(name: str = "1") -> Any:
    return {"configurable": {"thread_id": name}}


def test_the_inbox_dialect(checkrail: Checkrail, reviewer: httpx.Client) -> None:
    person = Reviewer(
        reviewer,
        approve(),
        amend({"command": "rm -ri build"}),
        deny("Not today."),
        approve(),
        deny("No mail."),
        answer("402"),
    )
    graph = asking(
        [inbox("shell", RM)],
        [inbox("shell", {"command": "rm -rf dist"})],
        [inbox("shell", {"command": "rm -rf src"})],
        # The gates have nothing against these, but the graph wants a person to look.
        [inbox("send_email", {"to": "alice"})],
        inbox("send_email", {"to": "bob"}, allow_ignore=False),
        [inbox("ask", {"which": [402, 418]}, allow_accept=False, allow_edit=False)],
    )
    with checkrail.run("Tidy up", on_wait=person) as run:
        got = drive(graph, {}, thread(), run)["got"]

    assert got == [
        [{"type": "accept", "args": None}],
        [
            {
                "type": "edit",
                "args": {"action": "shell", "args": {"command": "rm -ri build"}},
            }
        ],
        [{"type": "ignore", "args": None}],
        [{"type": "accept", "args": None}],
        [{"type": "response", "args": got[4][0]["args"]}],
        [{"type": "response", "args": "402"}],
    ]
    assert "No mail." in got[4][0]["args"]
    kinds = [shown["kind"] for shown in person.asked]
    assert kinds == ["confirmation"] * 3 + ["request", "request", "question"]
    assert '{"to": "alice"}' in person.asked[3]["content"]["detail"]


def test_blocked_and_left_to_the_gates(checkrail: Checkrail) -> None:
    """Nobody is asked: what the gates allow goes on, what they block does not."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    graph = asking(
        [inbox("shell", {"command": "ls"})], [inbox("shell", {"command": secret})]
    )
    with checkrail.run("Look around") as run:
        got = drive(graph, {}, thread(), run, gates_decide=True)["got"]
    assert [each[0]["type"] for each in got] == ["accept", "ignore"]


def test_a_node_that_starts_again_finds_its_answer(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """Three processes: one asks and gives up, one resolves and dies, one goes on."""
    graph = asking([inbox("shell", RM)], [inbox("send_email", {"to": "alice"})])
    run = checkrail.run("Tidy up")
    with pytest.raises(StillWaiting) as waiting:
        drive(graph, {}, thread(), run, timeout=0)
    run.close()

    person = Reviewer(reviewer, approve(), approve())
    run = checkrail.resume(run.id, on_wait=person)
    result = graph.invoke(None, thread())
    first = resolve_interrupts(result, run)
    assert first == resolve_interrupts(result, run)
    # As LangGraph's own server sends it.
    (asked,) = result["__interrupt__"]
    sent = {"__interrupt__": [{"id": asked.id, "value": asked.value}]}
    assert first == resolve_interrupts(sent, run)
    run.close()

    run = checkrail.resume(run.id, on_wait=person)
    got = drive(graph, None, thread(), run)["got"]
    run.finish()
    assert [each[0]["type"] for each in got] == ["accept", "accept"]
    assert len(person.asked) == 2
    assert person.asked[0]["id"] == waiting.value.review.id


def test_what_a_graph_cannot_be_told(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """Neither an unknown question nor an unwelcome answer lets a graph go on."""
    nothing_but_yes = inbox("shell", RM, allow_ignore=False, allow_respond=False)
    person = Reviewer(reviewer, deny("No."), answer("The first."))
    with checkrail.run("Tidy up", on_wait=person) as run:
        with pytest.raises(UnknownInterrupt, match="Is this right"):
            drive(asking({"question": "Is this right?"}), {}, thread(), run)
        with pytest.raises(CannotAnswer, match=r"allow_ignore.*No\."):
            drive(asking([nothing_but_yes]), {}, thread(), run)
        got = drive(
            asking("Which one?"),
            {},
            thread(),
            run,
            otherwise=lambda asked: run.ask(asked.value),
        )["got"]
    assert got == ["The first."]


def test_the_middleware_dialect(checkrail: Checkrail, reviewer: httpx.Client) -> None:
    """One interrupt for all calls of a turn: approve, edit, reject, in their order."""
    person = Reviewer(
        reviewer, approve(), amend({"command": "rm -ri dist"}), deny("Keep it.")
    )
    run = checkrail.run("Tidy up", on_wait=person)
    ran: list[str] = []
    model = ScriptedModel(
        script=[
            calls(
                ("run_command", RM),
                ("run_command", {"command": "rm -rf dist"}),
                ("run_command", {"command": "rm -rf src"}),
            ),
            says("Done."),
        ]
    )
    agent = create_agent(
        model,
        [recorder(ran)],
        middleware=[
            HumanInTheLoopMiddleware({"run_command": True}),
            # What was allowed where the graph was interrupted is not asked about again.
            CheckrailMiddleware(run),
        ],
        checkpointer=InMemorySaver(),
    )
    with run:
        result = drive(agent, {"messages": ["Tidy up"]}, thread(), run, version="v2")

    assert sorted(ran) == ["rm -rf build", "rm -ri dist"]
    refused = [
        m for m in result.value["messages"] if getattr(m, "status", "") == "error"
    ]
    assert ["Keep it." in str(message.content) for message in refused] == [True]
    ledger = reviewer.get(f"/runs/{run.id}/ledger").text
    told = [ledger.count(f'"call.{done}"') for done in ("judged", "claimed", "settled")]
    assert told == [3, 2, 2]


async def test_one_interrupt_for_each_call(
    async_checkrail: AsyncCheckrail, reviewer: httpx.Client
) -> None:
    """Several pending interrupts, answered by a map; what cannot be edited is refused."""
    ran: list[str] = []
    amended = {"command": "rm -ri dist"}
    model = ScriptedModel(
        script=[
            calls(("run_command", RM), ("delete", {"command": "rm -rf dist"})),
            calls(("delete", amended)),
            says("Done."),
        ]
    )

    def delete(command: str) -> str:
        """Delete something."""
        ran.append(command)
        return "deleted"

    agent = create_agent(
        model,
        [recorder(ran), delete],
        middleware=[
            HumanInTheLoopMiddleware(
                {
                    "run_command": True,
                    "delete": {"allowed_decisions": ["approve", "reject"]},
                },
                interrupt_mode="per_call",
            )
        ],
        checkpointer=InMemorySaver(),
    )
    person = Reviewer(reviewer, amend({"command": "rm -ri build"}), amend(amended))
    async with async_checkrail.run("Tidy up", on_wait=person) as run:
        result = await adrive(agent, {"messages": ["Tidy up"]}, thread(), run)

    # What a person put in place of the second call needed nobody's approval again.
    assert ran == ["rm -ri build", "rm -ri dist"]
    assert len(person.asked) == 2
    told = [str(m.content) for m in result["messages"] if m.type == "tool"]
    assert any('exactly these: {"command": "rm -ri dist"}' in text for text in told)
