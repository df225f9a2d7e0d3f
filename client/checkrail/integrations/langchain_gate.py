"""Tools of LangChain that start, wherever they do: in a graph, a node, an agent in a tool.

LangChain tells callbacks of every tool before it runs, and what they raise keeps it from
running. What no middleware has asked about is put to the gates here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphBubbleUp

from checkrail.errors import CheckrailError, Ungoverned
from checkrail.flows.call_results import CallCore, report_end, result_or_keep, shorten
from checkrail.flows.calls import GrantedCall
from checkrail.flows.reviewer_words import encode_sorted
from checkrail.flows.run_core import RunCore
from checkrail.integrations.admission import admit, take_over
from checkrail.integrations.drivers import drive_now
from checkrail.integrations.outcomes import (
    Admitted,
    Outcome,
    Stored,
    WantedCall,
    take_written_notes,
)
from checkrail.transport.driver import Driver
from checkrail.transport.effects import Flow

T = TypeVar("T")


class NotRun(CheckrailError):
    """The gates or a person refuse the call; the text is for the model."""


@dataclass
class Permit:
    """A granted call, which may begin once: only with what was granted."""

    tool: str
    arguments: Mapping[str, Any]
    began: UUID | None = None

    def takes(self, tool: str, arguments: Mapping[str, Any], began: UUID) -> bool:
        if self.began is None:
            # What the framework injects is no part of the arguments.
            granted = [
                name in self.arguments and self.arguments[name] == value
                for name, value in arguments.items()
            ]
            if tool == self.tool and all(granted):
                self.began = began
        return self.began == began


# Calls that were granted here and run now, by the framework's ids.
_running: WeakKeyDictionary[RunCore, dict[UUID, CallCore]] = WeakKeyDictionary()
_permit: ContextVar[Permit | None] = ContextVar("checkrail_permit", default=None)
_gate: ContextVar[BaseCallbackHandler | None] = ContextVar(
    "checkrail_gate", default=None
)
register_configure_hook(_gate, inheritable=True)


class ToolGate:
    """Mixed into a callback handler; its methods are plain ones: what asynchronous ones
    raise is only logged where a tool or a model is called by blocking code."""

    # Else LangChain would log what is raised, and run the tool.
    raise_error = True

    def __init__(self, run: RunCore, *, timeout: float | None = None) -> None:
        super().__init__()
        self.run = run
        self.timeout = timeout

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **_: Any,
    ) -> None:
        tool = serialized["name"]
        arguments = {"input": input_str} if inputs is None else inputs
        running = _running.setdefault(self.run, {})
        permit = _permit.get()
        if run_id in running or (permit and permit.takes(tool, arguments, run_id)):
            return
        if permit is not None and tool_call_id is None:
            return  # a granted tool's own code uses another: no model wants it
        wanted = WantedCall(
            id=tool_call_id or str(run_id),
            tool=tool,
            arguments_json=encode_sorted(arguments),
            editable=False,
        )
        outcome = self._drive(self._admit(wanted), tool)
        if isinstance(outcome, Stored):
            raise NotRun(f"Not run again: its result is known. {outcome.text}")
        if not isinstance(outcome, Admitted):
            raise NotRun(outcome.reason)
        granted = GrantedCall(
            id=outcome.call_id,
            kind="tool",
            tool=tool,
            fields={"arguments": outcome.arguments},
        )
        running[run_id] = CallCore(self.run, granted)
        if outcome.note:
            self.run.untold.append(outcome.note)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        call = _running.get(self.run, {}).pop(run_id, None)
        if call is None:
            return
        message = output if isinstance(output, ToolMessage) else None
        told = output if message is None else message.text
        ok = message is None or message.status != "error"
        self._drive(result_or_keep(call, ok=ok, output=shorten(str(told))), call.tool)
        if message is not None:  # it is the one that the model reads
            words = self._drive(take_written_notes(self.run), call.tool)
            message.content = add_words(message.content, after=words)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        call = _running.get(self.run, {}).pop(run_id, None)
        if call is not None and not isinstance(error, GraphBubbleUp):
            self._drive(report_end(call, error), call.tool)

    def _admit(self, wanted: WantedCall) -> Flow[Outcome]:
        taken = yield from take_over(self.run, wanted)
        if taken is not None:
            return taken
        (outcome,) = yield from admit(self.run, [wanted], timeout=self.timeout)
        return outcome

    def _drive(self, flow: Flow[T], what: str) -> T:
        """In this thread, or on the loop of the run from another one."""
        driver = self.run.driver
        if isinstance(driver, Driver) or not (driver.loop and driver.loop.is_running()):
            return drive_now(self.run, flow)
        if driver.loop is _get_running_loop():
            why = "It blocks the event loop, on which nobody can be asked: await it."
            raise Ungoverned([what], why, by_choice=False)
        future = asyncio.run_coroutine_threadsafe(driver.drive(flow), driver.loop)
        outcome: T = future.result()
        return outcome


class Gate(ToolGate, BaseCallbackHandler):
    """Put among the callbacks of all that starts within `guard_tools`."""


@contextmanager
def guard_tools(gate: Gate, permit: Permit | None = None) -> Iterator[None]:
    """Gate every tool that starts meanwhile; one call may begin with this permit."""
    set_permit = _permit.set(permit) if permit is not None else None
    set_gate = _gate.set(gate)
    try:
        yield
    finally:
        _gate.reset(set_gate)
        if set_permit is not None:
            _permit.reset(set_permit)


def check_provider_tools(tools: Iterable[Any], ungoverned: frozenset[str]) -> None:
    """Refuse tools that the provider of a model runs itself, unless they are named."""
    names = [
        str(tool.get("type") or tool.get("name"))
        for tool in tools
        if isinstance(tool, Mapping) and not _is_run_here(tool)
    ]
    refused = [name for name in names if name not in ungoverned]
    if refused:
        raise Ungoverned(refused, "The provider runs it: no gate can hold it.")


def check_turn(message: AIMessage, ungoverned: frozenset[str]) -> None:
    """Refuse to go on where the provider ran a tool that nobody named."""
    ran = [
        str(block.get("name"))
        for block in message.content_blocks
        if block["type"] == "server_tool_call"
    ]
    # The type of such a tool is its name, often with a date.
    refused = [
        name for name in ran if not any(each.startswith(name) for each in ungoverned)
    ]
    if refused:
        raise Ungoverned(refused, "The provider ran it with nobody asked.")


def add_words(content: Any, *, before: str = "", after: str = "") -> Any:
    """Say what the model has to know beside a result."""
    if isinstance(content, str):
        return "\n\n".join(filter(None, (before, content, after)))
    return [*_build_blocks(before), *content, *_build_blocks(after)]


def _build_blocks(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}] if text else []


def _is_run_here(tool: Mapping[str, Any]) -> bool:
    """A tool that a model only asks for, in the dialects of the providers."""
    described = ("function", "input_schema", "function_declarations", "parameters")
    return tool.get("type") in ("function", "custom") or any(
        name in tool for name in described
    )


def _get_running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
