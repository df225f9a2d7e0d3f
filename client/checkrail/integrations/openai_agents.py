"""OpenAI Agents SDK: what needs approval is put to Checkrail, turns are steps.

`result = await run_with_checkrail(guarded(agent), "…", run=run)`. The SDK cannot run
other arguments than the model wrote: where a person amends a call, the model is told to
make the amended one, which then needs nobody's approval again.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    Tool,
)
from agents.items import ModelResponse, ToolApprovalItem, TResponseInputItem
from agents.result import RunResult
from agents.run import CallModelData, ModelInputData
from agents.run_state import RunState
from openai.types.responses import ResponseFunctionToolCall

from checkrail.flows.call_results import CallCore, result_or_keep, shorten
from checkrail.flows.calls import GrantedCall
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import step
from checkrail.flows.usage import Usage, read_usage
from checkrail.integrations.admission import admit
from checkrail.integrations.drivers import drive_async
from checkrail.integrations.outcomes import (
    Admitted,
    Stored,
    WantedCall,
    encode_sorted,
    take_written_notes,
)
from checkrail.outcomes import StillWaiting

SUMMARY_LIMIT = 500
SIGNATURE_LIMIT = 1_000

Context = TypeVar("Context")
Input = str | list[TResponseInputItem] | RunState[Any]


class Parked(StillWaiting):
    """Nobody has ruled yet. Keep `state.to_json()` where nobody else can write.

    Later, in any process: `run_with_checkrail(agent, await RunState.from_json(agent,
    kept), run=checkrail.resume(run_id))`.
    """

    def __init__(self, waiting: StillWaiting, state: RunState[Any]) -> None:
        super().__init__(waiting.review, call_id=waiting.call_id)
        self.state = state


async def by_gates(
    context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
) -> bool:
    """As `needs_approval` of a tool: the gates decide whether a person is asked.

    With `needs_approval=True` a person is asked even where the gates allow.
    """
    return True


def guarded(agent: Agent[Context]) -> Agent[Context]:
    """The agent with every function tool put to the gates.

    Tools that need approval already keep their own rule.
    """
    tools: list[Tool] = [
        replace(tool, needs_approval=by_gates)
        if isinstance(tool, FunctionTool) and tool.needs_approval is False
        else tool
        for tool in agent.tools
    ]
    return agent.clone(tools=tools)


class CheckrailHooks(RunHooks[Any]):
    """Reports turns and results. For hooks of your own, extend it and call super()."""

    def __init__(self, run: RunCore, *, timeout: float | None = None) -> None:
        self.run = run
        self.timeout = timeout
        self.calls: dict[str, CallCore] = {}
        # By the id of the call whose result they are told with.
        self.notes: dict[str, str] = {}
        self._asked_at = time.monotonic()

    async def on_llm_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        self._asked_at = time.monotonic()

    async def on_llm_end(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        response: ModelResponse,
    ) -> None:
        spent = time.monotonic() - self._asked_at
        said, calls = _read_output(response.output)
        await drive_async(
            self.run,
            step(
                self.run,
                tokens=response.usage.total_tokens,
                usage=_read_usage(agent, response),
                # The calls themselves are counted when they are judged.
                tool_calls=0,
                duration_ms=round(spent * 1000),
                summary=(said or ", ".join(calls))[:SUMMARY_LIMIT],
                signature="\n".join(calls)[:SIGNATURE_LIMIT] or None,
                timeout=self.timeout,
            ),
        )
        for item in response.output:
            if isinstance(item, ResponseFunctionToolCall):
                self.store_note(item.call_id, await self.take_notes())

    async def take_notes(self) -> str:
        """What people wrote and the model has not read yet."""
        return await drive_async(self.run, take_written_notes(self.run))

    def store_note(self, call_id: str, note: str) -> None:
        if note:
            before = self.notes.get(call_id)
            self.notes[call_id] = f"{before}\n{note}" if before else note

    async def on_tool_end(
        self,
        context: RunContextWrapper[Any],
        agent: Any,
        tool: Tool,
        result: object,
    ) -> None:
        call = self.calls.pop(getattr(context, "tool_call_id", ""), None)
        if call is not None:
            output = shorten(str(result))
            await drive_async(self.run, result_or_keep(call, output=output))


async def run_with_checkrail(
    agent: Agent[Any],
    input: Input,
    *,
    run: RunCore,
    hooks: CheckrailHooks | None = None,
    timeout: float | None = None,
    **options: Any,
) -> RunResult:
    """`Runner.run` to its end, with everything that needs approval put to Checkrail.

    Raises Parked when nobody ruled within `timeout`, Stopped when the run is over.
    """
    hooks = hooks or CheckrailHooks(run, timeout=timeout)
    options["run_config"] = add_notes(hooks, options.get("run_config"))
    state: Input = input
    if isinstance(state, RunState):
        await resolve_interruptions(state, hooks=hooks)
    while True:
        answer = await Runner.run(agent, state, hooks=hooks, **options)
        if not answer.interruptions:
            notes = await hooks.take_notes()
            if not notes:
                return answer
            # It would end, and no result of a tool can tell it.
            state = [*answer.to_input_list(), {"role": "user", "content": notes}]
            continue
        state = answer.to_state()
        await resolve_interruptions(state, hooks=hooks)


async def resolve_interruptions(state: RunState[Any], *, hooks: CheckrailHooks) -> None:
    """Approve or reject all that the state waits for; then `Runner.run(agent, state)`."""
    items = state.get_interruptions()
    wanted = [_build_call(item) for item in items]
    run = hooks.run
    try:
        outcomes = await drive_async(run, admit(run, wanted, timeout=hooks.timeout))
    except StillWaiting as waiting:
        raise Parked(waiting, state) from None
    for item, asked, outcome in zip(items, wanted, outcomes, strict=True):
        if isinstance(outcome, Admitted):
            granted = GrantedCall(
                id=outcome.call_id,
                kind="tool",
                tool=asked.tool,
                fields={"arguments": outcome.arguments},
            )
            hooks.calls[item.call_id or ""] = CallCore(run, granted)
            hooks.store_note(item.call_id or "", outcome.note)
            state.approve(item)
        elif isinstance(outcome, Stored):
            state.reject(item, rejection_message=outcome.text)
        else:
            state.reject(item, rejection_message=outcome.reason)
    if items:
        hooks.store_note(items[0].call_id or "", await hooks.take_notes())


def add_notes(hooks: CheckrailHooks, config: RunConfig | None = None) -> RunConfig:
    """The configuration with which the model reads reviewers' notes beside the results.

    `run_with_checkrail` uses it by itself; where you call the Runner, pass it there.
    """
    config = config or RunConfig()
    own = config.call_model_input_filter

    async def filter_input(data: CallModelData[Any]) -> ModelInputData:
        filtered = data.model_data if own is None else own(data)
        if inspect.isawaitable(filtered):
            filtered = await filtered
        items = [_add_note(item, hooks.notes) for item in filtered.input]
        return replace(filtered, input=items)

    return replace(config, call_model_input_filter=filter_input)


def _add_note(item: Any, notes: Mapping[str, str]) -> Any:
    is_result = isinstance(item, dict) and item.get("type") == "function_call_output"
    note = notes.get(item["call_id"]) if is_result else None
    if not note:
        return item
    output = item["output"]
    if isinstance(output, str):
        return {**item, "output": f"{output}\n\n{note}"}
    return {**item, "output": [*output, {"type": "input_text", "text": note}]}


def _build_call(item: ToolApprovalItem) -> WantedCall:
    return WantedCall(
        id=item.call_id or "",
        tool=item.qualified_name or "tool",
        arguments_json=_get_arguments_json(item),
        person=not _is_decided_by_gates(item),
        editable=False,
    )


def _is_decided_by_gates(item: ToolApprovalItem) -> bool:
    tools = getattr(item.agent, "tools", ())
    named = [tool for tool in tools if tool.name == item.tool_name]
    return any(getattr(tool, "needs_approval", None) is by_gates for tool in named)


def _get_arguments_json(item: ToolApprovalItem) -> str:
    """As the model wrote it; what is no object (a patch, a shell action) gets a name."""
    text = item.arguments or "{}"
    raw = item.raw_item
    kind = raw.get("type") if isinstance(raw, Mapping) else getattr(raw, "type", None)
    if kind == "function_call":
        return text
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    return encode_sorted({"input": text})


def _read_usage(agent: Agent[Any], response: ModelResponse) -> list[Usage]:
    """A response does not name its model; the agent does, unless the run's is meant."""
    model = agent.model if isinstance(agent.model, str) else ""
    return [replace(usage, model=model) for usage in read_usage(response.usage)]


def _read_output(output: Sequence[Any]) -> tuple[str, list[str]]:
    """The words of a turn, and its calls with their arguments."""
    texts = [
        part.text
        for item in output
        if item.type == "message"
        for part in item.content
        if part.type == "output_text"
    ]
    calls = [
        f"{item.name}:{item.arguments}"
        for item in output
        if item.type == "function_call"
    ]
    return " ".join(texts), calls
