"""Nothing that a model can reach through the real SDK runs with nobody asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from agents import (
    Agent,
    AgentsException,
    CustomTool,
    RunConfig,
    Runner,
    ShellCommandRequest,
    ShellTool,
    Usage,
    function_tool,
    handoff,
)
from agents.mcp import MCPServer
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from checkrail import AsyncCheckrail
from checkrail.integrations.openai_agents import (
    CheckrailHooks,
    Ungoverned,
    guarded,
    run_with_checkrail,
)
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool
from openai.types.responses import (
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseOutputItem,
)
from openai.types.responses.response_output_item import McpApprovalRequest, McpCall

from tests.integrations.people import Reviewer, approve, deny

SILENT = RunConfig(tracing_disabled=True)
USAGE = Usage(requests=1, input_tokens=90, output_tokens=10, total_tokens=100)
DESTROY = "rm -rf / --no-preserve-root"
LOOK = "ls"


class Shelf(MCPServer):
    """An MCP server as the SDK has them; it lists its tools at run time."""

    def __init__(self, ran: list[str]) -> None:
        super().__init__()
        self.ran = ran

    @property
    def name(self) -> str:
        return "shelf"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *_: Any, **__: Any) -> list[MCPTool]:
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        return [MCPTool(name="run_command", input_schema=schema)]

    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, *_: Any, **__: Any
    ) -> CallToolResult:
        self.ran.append((arguments or {})["command"])
        return CallToolResult(content=[TextContent(type="text", text="done")])

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


def script(*turns: Sequence[ResponseOutputItem] | ResponseOutputItem) -> ScriptedModel:
    steps = [
        ModelStep(output=list(turn) if isinstance(turn, list) else [turn], usage=USAGE)  # type: ignore[list-item]
        for turn in turns
    ]
    done = ModelStep(output=[assistant_message("Done.")], usage=USAGE)
    return ScriptedModel([*steps, done])


def wants(command: str, call_id: str, *, tool: str = "run_command") -> Any:
    return function_call(tool, {"command": command}, call_id=call_id)


def wants_shell(call_id: str, *commands: str) -> Any:
    action = {"commands": list(commands), "timeout_ms": None, "max_output_length": None}
    return ResponseFunctionShellToolCall.model_validate(
        {
            "type": "shell_call",
            "id": f"item-{call_id}",
            "call_id": call_id,
            "action": action,
            "status": "completed",
        }
    )


def build_tool(ran: list[str]) -> Any:
    @function_tool
    def run_command(command: str) -> str:
        ran.append(command)
        return "done"

    return run_command


def build_shell(ran: list[str]) -> Any:
    def execute(asked: ShellCommandRequest) -> str:
        ran.extend(asked.data.action.commands)
        return "done"

    return execute


def build_writer(ran: list[str]) -> Any:
    async def write(context: Any, text: str) -> str:
        ran.append(text)
        return "done"

    return write


def build_robo(kind: str, ran: list[str]) -> Agent[Any]:
    """Wants to destroy everything, then to look, by one kind of seam."""
    calls = [wants(DESTROY, "call-1"), wants(LOOK, "call-2")]
    if kind == "mcp":
        return guarded(Agent("robo", model=script(*calls), mcp_servers=[Shelf(ran)]))
    if kind == "mcp attached later":
        agent = guarded(Agent("robo", model=script(*calls)))
        agent.mcp_servers.append(Shelf(ran))
        return agent
    if kind == "shell":
        shells = [wants_shell("call-1", DESTROY), wants_shell("call-2", LOOK)]
        tool = ShellTool(executor=build_shell(ran))
        return guarded(Agent("robo", model=script(*shells), tools=[tool]))
    if kind == "custom":
        raw = [
            ResponseCustomToolCall(
                type="custom_tool_call", call_id=call_id, name="raw", input=text
            )
            for call_id, text in (("call-1", DESTROY), ("call-2", LOOK))
        ]
        raw_tool = CustomTool("raw", "", on_invoke_tool=build_writer(ran))
        return guarded(Agent("robo", model=script(*raw), tools=[raw_tool]))
    if kind == "own rule says no":
        tools = [build_tool(ran)]
        tools[0].needs_approval = lambda *_: False
        return guarded(Agent("robo", model=script(*calls), tools=tools))
    aide = Agent("aide", model=script(*calls), tools=[build_tool(ran)])
    if kind == "agent as a tool":
        inner = guarded(aide).as_tool("ask_aide", "")
        asks = function_call("ask_aide", {"input": "Tidy up"}, call_id="call-0")
        return guarded(Agent("robo", model=script(asks), tools=[inner]))
    passes = function_call("transfer_to_aide", {}, call_id="call-0")
    robo = Agent("robo", model=script(passes))
    if kind == "handoff":
        robo.handoffs = [aide]
    if kind == "made handoff":
        robo.handoffs = [handoff(aide)]
    agent = guarded(robo)
    if kind == "handoff attached later":
        agent.handoffs.append(handoff(aide))
    return agent


SEAMS = [
    "mcp",
    "mcp attached later",
    "shell",
    "own rule says no",
    "agent as a tool",
    "handoff",
    "made handoff",
    "handoff attached later",
]


@pytest.mark.parametrize("kind", SEAMS)
async def test_a_person_is_asked(
    kind: str,
    async_checkrail: AsyncCheckrail,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    ran: list[str] = []
    person = Reviewer(reviewer, deny("Never."), approve())
    async with async_checkrail.run("Tidy up", on_wait=person) as run:
        robo = build_robo(kind, ran)
        result = await run_with_checkrail(robo, "Tidy up", run=run, run_config=SILENT)

    assert result.final_output == "Done."
    assert ran == [LOOK]
    ledger = agent.get(f"/runs/{run.id}/ledger").text
    assert DESTROY in ledger
    asked = 1 if kind == "agent as a tool" else 0
    assert ledger.count('"call.claimed"') == 1 + asked


async def test_custom_tools_are_put_to_the_gates(
    async_checkrail: AsyncCheckrail, agent: httpx.Client
) -> None:
    """Their one text is judged, and their results are reported."""
    ran: list[str] = []
    async with async_checkrail.run("Tidy up") as run:
        robo = build_robo("custom", ran)
        await run_with_checkrail(robo, "Tidy up", run=run, run_config=SILENT)
    ledger = agent.get(f"/runs/{run.id}/ledger").text
    assert ledger.count('"call.judged"') == 2
    assert ledger.count('"call.claimed"') == ledger.count('"call.settled"') == len(ran)


async def test_commands_of_one_shell_call_are_judged_each(
    async_checkrail: AsyncCheckrail, reviewer: httpx.Client
) -> None:
    """What would be the text of a here-document in one script is a command of its own."""
    ran: list[str] = []
    tool = ShellTool(executor=build_shell(ran))
    wanted = wants_shell("call-1", "cat <<EOF", DESTROY, "EOF")
    robo = guarded(Agent("robo", model=script(wanted), tools=[tool]))
    person = Reviewer(reviewer, deny("Never."))
    async with async_checkrail.run("Tidy up", on_wait=person) as run:
        await run_with_checkrail(robo, "Tidy up", run=run, run_config=SILENT)
    assert ran == []


def build_hosted(*turns: Any) -> Agent[Any]:
    from tests.integrations.test_openai_seams import GOVERNED

    tool = GOVERNED["HostedMCPTool"]()
    return guarded(Agent("robo", model=script(*turns), tools=[tool]))


def build_request(known: str, command: str) -> McpApprovalRequest:
    return McpApprovalRequest(
        id=known,
        type="mcp_approval_request",
        name="run_command",
        server_label="files",
        arguments=f'{{"command": "{command}"}}',
    )


def build_made(known: str | None) -> McpCall:
    return McpCall(
        id="made-1",
        type="mcp_call",
        name="run_command",
        server_label="files",
        arguments=f'{{"command": "{LOOK}"}}',
        approval_request_id=known,
        output="done",
    )


async def test_hosted_servers_ask_before_each_call(
    async_checkrail: AsyncCheckrail, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    asks = [build_request("ask-1", DESTROY), build_request("ask-2", LOOK)]
    robo = build_hosted(asks, [build_made("ask-2"), assistant_message("Done.")])
    person = Reviewer(reviewer, deny("Never."))
    async with async_checkrail.run("Tidy up", on_wait=person) as run:
        await run_with_checkrail(robo, "Tidy up", run=run, run_config=SILENT)
    assert isinstance(robo.model, ScriptedModel)
    call = robo.model.last_call
    assert call is not None
    answers = {
        item["approval_request_id"]: item["approve"]
        for item in call.input
        if item.get("type") == "mcp_approval_response"
    }
    assert answers == {"ask-1": False, "ask-2": True}
    ledger = agent.get(f"/runs/{run.id}/ledger").text
    assert ledger.count('"call.claimed"') == ledger.count('"call.settled"') == 1
    assert len(person.asked) == 1


async def test_a_hosted_call_that_nobody_was_asked_about_ends_the_agent(
    async_checkrail: AsyncCheckrail,
) -> None:
    robo = build_hosted([build_made(None), assistant_message("Done.")])
    async with async_checkrail.run("Tidy up") as run:
        with pytest.raises(Ungoverned, match="HostedMCPTool"):
            await run_with_checkrail(robo, "Tidy up", run=run, run_config=SILENT)


async def test_an_agent_that_is_not_governed_never_begins(
    async_checkrail: AsyncCheckrail,
) -> None:
    ran: list[str] = []
    model = script(wants(LOOK, "call-1"))
    plain = Agent("robo", model=model, tools=[build_tool(ran)])
    async with async_checkrail.run("Tidy up") as run:
        hooks = CheckrailHooks(run)
        with pytest.raises(Ungoverned, match="robo"):
            await Runner.run(plain, "Tidy up", hooks=hooks, run_config=SILENT)
    assert (ran, len(model.calls)) == ([], 0)


async def test_an_agent_is_governed_by_the_way(
    async_checkrail: AsyncCheckrail, agent: httpx.Client
) -> None:
    ran: list[str] = []
    model = script(wants(LOOK, "call-1"))
    plain = Agent("robo", model=model, tools=[build_tool(ran)])
    async with async_checkrail.run("Tidy up") as run:
        await run_with_checkrail(plain, "Tidy up", run=run, run_config=SILENT)
    assert ran == [LOOK]
    assert '"call.claimed"' in agent.get(f"/runs/{run.id}/ledger").text


async def test_an_approval_that_is_not_ours_starts_nothing(
    async_checkrail: AsyncCheckrail,
) -> None:
    """Where a program approves by itself, the hooks see that nobody was asked."""
    ran: list[str] = []
    model = script(wants(LOOK, "call-1"))
    robo = guarded(Agent("robo", model=model, tools=[build_tool(ran)]))
    async with async_checkrail.run("Tidy up") as run:
        hooks = CheckrailHooks(run)
        result = await Runner.run(robo, "Tidy up", hooks=hooks, run_config=SILENT)
        state = result.to_state()
        (item,) = result.interruptions
        state.approve(item)
        with pytest.raises((Ungoverned, AgentsException), match="nobody was asked"):
            await Runner.run(robo, state, hooks=hooks, run_config=SILENT)
    assert ran == []
