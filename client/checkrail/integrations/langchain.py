"""LangChain agents: `create_agent(model, tools, middleware=[CheckrailMiddleware(run)])`.

Each tool call is judged before it runs: amended arguments are what runs, a refusal goes
back to the model as an error. Each turn of the model is a step: throttle, checkpoint and
pause are obeyed, stop raises Stopped out of the agent.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    hook_config,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command

from checkrail.answers import Decision
from checkrail.flows.call_results import CallCore, report_end, result_or_keep, shorten
from checkrail.flows.calls import GrantedCall
from checkrail.flows.reviewer_words import describe_change, encode_sorted
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import step
from checkrail.integrations.admission import admit, take_over
from checkrail.integrations.drivers import drive_async, drive_now
from checkrail.integrations.langchain_gate import (
    Gate,
    Permit,
    add_words,
    check_provider_tools,
    check_turn,
    guard_tools,
)
from checkrail.integrations.outcomes import (
    Admitted,
    Changed,
    Outcome,
    Refused,
    Stored,
    WantedCall,
    take_written_notes,
)
from checkrail.integrations.seams import read_names
from checkrail.transport.effects import Flow

SUMMARY_LIMIT = 500
SIGNATURE_LIMIT = 1_000

ToolResult = ToolMessage | Command[Any]


class CheckrailMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """List it last: then it judges what really runs, whatever others make of a call.

    `timeout`: how long a person is waited for; then StillWaiting leaves the agent. With
    a checkpointer, the agent goes on from there when it is invoked again with None.
    `ungoverned` names tools that the provider of the model may run with nobody asked, by
    their types; others raise Ungoverned.
    """

    def __init__(
        self,
        run: RunCore,
        *,
        timeout: float | None = None,
        ungoverned: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.run = run
        self.timeout = timeout
        self.ungoverned = read_names(ungoverned)
        self._model_seconds = 0.0
        # For what starts within a tool, such as the tools of an agent in it.
        self._gate = Gate(run, timeout=timeout)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelCallResult[Any]:
        check_provider_tools(_list_raw_tools(request), self.ungoverned)
        began = time.monotonic()
        try:
            return handler(request)
        finally:
            self._model_seconds += time.monotonic() - began

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult[Any]:
        check_provider_tools(_list_raw_tools(request), self.ungoverned)
        began = time.monotonic()
        try:
            return await handler(request)
        finally:
            self._model_seconds += time.monotonic() - began

    @hook_config(can_jump_to=["model"])
    def after_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        drive_now(self.run, self._report_turn(state))
        check_turn(_get_last_turn(state), self.ungoverned)
        return drive_now(self.run, self._go_on_with_notes(state))

    @hook_config(can_jump_to=["model"])
    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        await drive_async(self.run, self._report_turn(state))
        check_turn(_get_last_turn(state), self.ungoverned)
        return await drive_async(self.run, self._go_on_with_notes(state))

    def _go_on_with_notes(self, state: AgentState[Any]) -> Flow[dict[str, Any] | None]:
        """The agent would end, and no result of a tool can tell it: it goes on by a
        message."""
        if _get_last_turn(state).tool_calls:
            return None
        notes = yield from take_written_notes(self.run)
        if not notes:
            return None
        return {"messages": [HumanMessage(notes)], "jump_to": "model"}

    def _report_turn(self, state: AgentState[Any]) -> Flow[Decision]:
        spent, self._model_seconds = self._model_seconds, 0.0
        message = _get_last_turn(state)
        calls = [
            f"{call['name']}:{encode_sorted(call['args'])}"
            for call in message.tool_calls
        ]
        names = ", ".join(call["name"] for call in message.tool_calls)
        return step(
            self.run,
            usage=message if message.usage_metadata else None,
            # The calls themselves are counted when they are judged.
            tool_calls=0,
            duration_ms=round(spent * 1000),
            summary=(str(message.text) or names)[:SUMMARY_LIMIT],
            signature="\n".join(calls)[:SIGNATURE_LIMIT] or None,
            timeout=self.timeout,
        )

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        outcome = drive_now(self.run, self._admit(request))
        if not isinstance(outcome, Admitted):
            return _build_refusal(request, outcome)
        call = self._build_call(request, outcome)
        changed = _describe_amendment(request, outcome)
        try:
            with guard_tools(self._gate, Permit(call.tool, outcome.arguments)):
                answer = handler(_apply_amendment(request, outcome))
        except GraphBubbleUp:
            raise  # the tool waits for something: it is started again, and goes on
        except Exception as error:
            _keep_words(self.run, "\n".join(filter(None, (changed, outcome.note))))
            drive_now(self.run, report_end(call, error))
            raise
        drive_now(self.run, _report_result(call, answer))
        notes = drive_now(self.run, take_written_notes(self.run))
        after = "\n".join(filter(None, (outcome.note, notes)))
        return _add_notes(self.run, answer, changed, after)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        outcome = await drive_async(self.run, self._admit(request))
        if not isinstance(outcome, Admitted):
            return _build_refusal(request, outcome)
        call = self._build_call(request, outcome)
        changed = _describe_amendment(request, outcome)
        try:
            with guard_tools(self._gate, Permit(call.tool, outcome.arguments)):
                answer = await handler(_apply_amendment(request, outcome))
        except GraphBubbleUp:
            raise
        except Exception as error:
            _keep_words(self.run, "\n".join(filter(None, (changed, outcome.note))))
            await drive_async(self.run, report_end(call, error))
            raise
        await drive_async(self.run, _report_result(call, answer))
        notes = await drive_async(self.run, take_written_notes(self.run))
        after = "\n".join(filter(None, (outcome.note, notes)))
        return _add_notes(self.run, answer, changed, after)

    def _admit(self, request: ToolCallRequest) -> Flow[Outcome]:
        wanted = WantedCall(
            id=_get_call_id(request),
            tool=request.tool_call["name"],
            arguments_json=encode_sorted(request.tool_call["args"]),
        )
        taken = yield from take_over(self.run, wanted)
        if taken is not None:
            return taken
        (outcome,) = yield from admit(self.run, [wanted], timeout=self.timeout)
        return outcome

    def _build_call(self, request: ToolCallRequest, outcome: Admitted) -> CallCore:
        granted = GrantedCall(
            id=outcome.call_id,
            kind="tool",
            tool=request.tool_call["name"],
            fields={"arguments": outcome.arguments},
        )
        return CallCore(self.run, granted)


def _list_raw_tools(request: ModelRequest[Any]) -> list[Any]:
    """List those of the request, and of the settings that go past the agent's own list."""
    settings = [
        request.model_settings,
        getattr(request.model, "kwargs", None),
        getattr(request.model, "model_kwargs", None),
    ]
    bound = [each["tools"] for each in settings if each and each.get("tools")]
    return [*request.tools, *itertools.chain(*bound)]


def _get_last_turn(state: AgentState[Any]) -> AIMessage:
    return [each for each in state["messages"] if isinstance(each, AIMessage)][-1]


def _get_call_id(request: ToolCallRequest) -> str:
    """Some models number their calls anew in each message: the message's id tells."""
    called = request.tool_call["id"]
    state = request.state
    messages = state.get("messages", ()) if isinstance(state, Mapping) else ()
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(
            call["id"] == called for call in message.tool_calls
        ):
            return f"{message.id}:{called}"
    return str(called)


def _apply_amendment(request: ToolCallRequest, outcome: Admitted) -> ToolCallRequest:
    if not outcome.amended:
        return request
    call = request.tool_call
    return request.override(tool_call={**call, "args": outcome.arguments})


def _build_refusal(
    request: ToolCallRequest, outcome: Changed | Refused | Stored
) -> ToolMessage:
    """What the model hears of a call that does not run."""
    stored = isinstance(outcome, Stored)
    return ToolMessage(
        content=outcome.text if isinstance(outcome, Stored) else outcome.reason,
        name=request.tool_call["name"],
        tool_call_id=request.tool_call["id"],
        status="success" if stored else "error",
    )


def _report_result(call: CallCore, answer: ToolResult) -> Flow[None]:
    if not isinstance(answer, ToolMessage):
        return result_or_keep(call)
    ok, output = answer.status != "error", shorten(str(answer.text))
    return result_or_keep(call, ok=ok, output=output)


def _keep_words(run: RunCore, words: str) -> None:
    """For the next result: this one cannot carry them."""
    if words:
        run.untold.append(words)


def _describe_amendment(request: ToolCallRequest, outcome: Admitted) -> str:
    if not outcome.amended:
        return ""
    return describe_change(outcome.arguments, request.tool_call["args"])


def _add_notes(run: RunCore, answer: ToolResult, before: str, after: str) -> ToolResult:
    """What the model has to know beside the result: that another call ran than its own,
    and what people wrote."""
    if not before and not after:
        return answer
    if not isinstance(answer, ToolMessage):
        _keep_words(run, "\n".join(filter(None, (before, after))))
        return answer
    content = add_words(answer.content, before=before, after=after)
    return answer.model_copy(update={"content": content})
