"""A real MCP client talks to our server process over stdio."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import checkrail
import httpx
from checkrail import AsyncCheckrail
from checkrail.mcp.server import build_server
from checkrail.mcp.session import Session
from mcp import Client, StdioServerParameters, stdio_client

from tests.support.builders import Robot
from tests.support.live import Live
from tests.support.people import rule

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
COMMAND = [sys.executable, "-m", "checkrail.mcp"]


class Tools:
    """Calls tools by their names: the structured answer, or the text of an error."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        return answer

    async def error(self, tool: str, /, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        assert result.structured_content is None
        return result.content[0].text  # type: ignore[union-attr]


@asynccontextmanager
async def over_stdio(url: str, key: str) -> AsyncIterator[Tools]:
    """As agents do it: a process of its own."""
    program, *words = COMMAND
    variables = {"CHECKRAIL_URL": url, "CHECKRAIL_KEY": key, "PYTHONPATH": "client"}
    parameters = StdioServerParameters(command=program, args=words, env=variables)
    async with Client(stdio_client(parameters)) as client:
        yield Tools(client)


@asynccontextmanager
async def in_memory(session: Session) -> AsyncIterator[Tools]:
    """With the handshake of older clients."""
    async with Client(build_server(session), mode="legacy") as client:
        yield Tools(client)
    await session.close()


def get_review_code(answer: dict[str, Any]) -> str:
    return str(answer["id"]).removeprefix("review-")


async def test_an_agent_asks_and_obeys(
    live: Live, robo: Robot, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    def open_review() -> str:
        (review,) = reviewer.get("/reviews?state=open").json()["items"]
        return str(review["id"])

    async with over_stdio(live.url, robo.key) as call:
        names = [tool.name for tool in (await call.client.list_tools()).tools]
        assert names == [
            "start_run",
            "report_step",
            "check_tool_call",
            "request_approval",
            "wait_for_decision",
            "get_decision",
            "finish_run",
        ]
        begun = await call("start_run", task="Tidy up", intent="refactor")
        assert "under way" in await call.error("start_run", task="Again")
        step = await call("report_step", tokens=100, tool_calls=1, summary="Looked")
        assert (step["decision"], step["may_continue"]) == ("continue", True)
        assert step["instruction"] == "Go on."
        assert call.client.server_info is not None
        assert call.client.server_info.version == checkrail.__version__

        # Allowed, blocked, and what looks like a call but is none.
        allowed = await call(
            "check_tool_call", tool="Bash", arguments={"command": "ls"}
        )
        assert allowed["may_run"]
        assert allowed["arguments"] == {"command": "ls"}
        secret = {"command": f"echo {SECRET}"}
        blocked = await call("check_tool_call", tool="Bash", arguments=secret)
        assert (blocked["decision"], blocked["may_run"]) == ("block", False)
        assert not (await call("get_decision", id=blocked["id"]))["approved"]
        wrong = await call.error("check_tool_call", tool="Bash", command="rm -rf /")
        assert "arguments" in wrong
        assert "command" in wrong

        # A person has to look: a wait that runs out is no approval.
        asked = await call(
            "check_tool_call", tool="Bash", arguments={"command": "rm -rf build"}
        )
        assert (asked["may_run"], asked["arguments"]) == (False, None)
        waited = await call("wait_for_decision", id=asked["id"], timeout_s=1)
        assert (waited["state"], waited["approved"]) == ("open", False)
        assert "NOT an approval" in waited["instruction"]
        waiting = asyncio.create_task(
            call("wait_for_decision", id=asked["id"], timeout_s=20)
        )
        amended = {"arguments": {"command": "rm -ri build"}}
        rule(reviewer, open_review(), "amend", amended=amended)
        ruled = await waiting
        assert (ruled["approved"], ruled["action"]) == (True, "amend")
        assert ruled["arguments"] == {"command": "rm -ri build"}
        # It may run once, so it is handed out once.
        assert not (await call("get_decision", id=asked["id"]))["approved"]

        denied = await call(
            "check_tool_call", tool="Bash", arguments={"command": "rm -rf src"}
        )
        rule(reviewer, open_review(), "deny", note="Keep it.")
        told = await call("get_decision", id=denied["id"])
        assert (told["approved"], told["note"]) == (False, "Keep it.")

        # In its own words; while a person thinks, nothing else is done.
        wish = await call(
            "request_approval", title="May I deploy?", detail="To staging"
        )
        assert wish["approved"] is False
        paused = await call.error("report_step", tokens=1)
        assert wish["id"] in paused
        rule(reviewer, get_review_code(wish), "approve", note="Go.")
        yes = await call("get_decision", id=wish["id"])
        assert (yes["approved"], yes["note"]) == (True, "Go.")

        unsure = await call("report_step", tokens=1, uncertainty=0.95)
        assert (unsure["decision"], unsure["may_continue"]) == ("pause", False)
        rule(reviewer, get_review_code(unsure), "approve")
        assert (await call("get_decision", id=unsure["id"]))["approved"]

        assert "no id" in await call.error("get_decision", id="42")
        finished = await call("finish_run", outcome="completed", summary="Tidy.")
        assert (finished["run"], finished["status"]) == (begun["run"], "completed")

    ledger = agent.get(f"/runs/{begun['run']}/ledger").text
    assert ledger.count('"call.claimed"') == 2


async def test_a_given_run(
    async_checkrail: AsyncCheckrail, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Somebody else's run is neither started nor ended here."""
    run = agent.post("/runs", json={"task": "Tidy up"}).json()["id"]
    async with in_memory(Session(async_checkrail, run_id=run)) as call:
        names = [tool.name for tool in (await call.client.list_tools()).tools]
        assert not {"start_run", "finish_run"} & set(names)
        assert (await call("report_step", tokens=5))["step"] == 1
        wish = await call("request_approval", title="May I?")
        rule(reviewer, get_review_code(wish), "abort")
        assert not (await call("get_decision", id=wish["id"]))["approved"]
        over = await call.error("check_tool_call", tool="ls", arguments={})
        assert "Stop working" in over


async def test_no_server_no_permission() -> None:
    nowhere = AsyncCheckrail("http://127.0.0.1:9", "crk_x", retry_seconds=0)
    async with in_memory(Session(nowhere)) as call:
        lost = await call.error("check_tool_call", tool="ls", arguments={})
    assert "nothing is allowed" in lost


def test_without_a_key_it_says_what_to_set() -> None:
    variables = {**os.environ, "PYTHONPATH": "client", "CHECKRAIL_URL": "http://x"}
    variables.pop("CHECKRAIL_KEY", None)
    result = subprocess.run(
        COMMAND, env=variables, capture_output=True, text=True, check=False, timeout=30
    )
    assert (result.returncode, "CHECKRAIL_KEY" in result.stderr) == (2, True)
