"""The tools over stdio: arguments are checked, and no trouble is ever an approval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from checkrail.errors import CheckrailError, Unreachable
from checkrail.mcp.decisions import build_review_id
from checkrail.mcp.session import Answer, Session
from checkrail.mcp.tools import (
    DEFAULT_TIMEOUT,
    IN_ANY_RUN,
    INSTRUCTIONS,
    WITH_OWN_RUN,
)
from checkrail.outcomes import Stopped
from checkrail.problems import Halted, RunPaused, Unauthenticated
from checkrail.version import __version__

Request = ServerRequestContext[Any]


def build_server(session: Session) -> Server[Any]:
    tools = {
        tool.name: tool for tool in (IN_ANY_RUN if session.run_id else WITH_OWN_RUN)
    }

    async def list_tools(
        context: Request, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(tools.values()))

    async def call_tool(
        context: Request, params: CallToolRequestParams
    ) -> CallToolResult:
        tool, arguments = tools.get(params.name), params.arguments or {}
        if tool is None:
            return _build_error(f"There is no tool {params.name!r}.")
        wrong = _list_faults(tool.input_schema, arguments)
        if wrong:
            return _build_error(f"Nothing was done. Mend the arguments: {wrong}")
        try:
            answer = await _call_tool(session, context, params.name, arguments)
        except (CheckrailError, ValueError) as error:
            return _build_error(_explain(error))
        text = TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
        return CallToolResult(content=[text], structured_content=answer)

    return Server(
        "checkrail",
        version=__version__,
        title="Checkrail",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _call_tool(
    session: Session, context: Request, name: str, arguments: Mapping[str, Any]
) -> Answer:
    if name == "start_run":
        return await session.start_run(**arguments)
    if name == "finish_run":
        return await session.finish_run(**arguments)
    client = context.session.client_params
    run = await session.run(client.client_info.name if client else "")
    if name == "report_step":
        return await session.report_step(run, **arguments)
    if name == "check_tool_call":
        return await session.check_tool_call(run, **arguments)
    if name == "request_approval":
        return await session.request_approval(run, **arguments)
    if name == "get_decision":
        return await session.get_decision(run, **arguments)

    async def progress(waited: float) -> None:
        await context.session.report_progress(waited, message="Waiting for a person")

    timeout = {"timeout_s": DEFAULT_TIMEOUT, **arguments}
    return await session.wait_for_decision(run, progress=progress, **timeout)


def _list_faults(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    found = Draft202012Validator(schema).iter_errors(arguments)
    return "; ".join(f"{error.json_path}: {error.message}" for error in found)


def _build_error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _explain(error: Exception) -> str:
    """What an agent is to do about it; nothing of it may read like a yes."""
    if isinstance(error, RunPaused) and error.review is not None:
        return (
            "Nothing was done: the run waits for a person. Call wait_for_decision with "
            f"the id {build_review_id(error.review.id)}, then try again."
        )
    if isinstance(error, Halted):
        return (
            f"Nothing was done: halted by {error.by}: {error.reason} Wait until it is "
            "released, then try again, or tell the user."
        )
    if isinstance(error, Stopped):
        return f"The run is over: {error}. Stop working, and tell the user."
    if isinstance(error, Unreachable):
        return (
            f"Checkrail cannot be reached, so nothing is allowed. {error} Do not go on "
            "without it: try again in a minute, or tell the user."
        )
    if isinstance(error, Unauthenticated):
        return f"Nothing was done: {error} Ask the user for a good CHECKRAIL_KEY."
    return f"Nothing was done. {error}"


def serve(session: Session) -> None:
    """Serve on stdin and stdout until the client closes them."""
    anyio.run(_serve, session)


async def _serve(session: Session) -> None:
    server = build_server(session)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        with anyio.CancelScope(shield=True):
            await session.close()
