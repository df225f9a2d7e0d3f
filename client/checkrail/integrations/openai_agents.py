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
from typing import Any
from weakref import WeakKeyDictionary

from agents import (
    Agent,
    HostedMCPTool,
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
from openai.types.responses.response_output_item import McpCall

from checkrail.errors import Ungoverned
from checkrail.flows.call_results import CallCore, result_or_keep, shorten
from checkrail.flows.calls import GrantedCall
from checkrail.flows.reviewer_words import encode_sorted
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import step
from checkrail.flows.usage import Usage, read_usage
from checkrail.integrations.admission import admit
from checkrail.integrations.drivers import drive_async
from checkrail.integrations.openai_seams import (
    GovernedAgent,
    by_gates,
    check_output,
    guarded,
    is_for_person,
    is_let_through,
    is_named,
)
from checkrail.integrations.outcomes import (
    Admitted,
    Stored,
    WantedCall,
    take_written_notes,
)
from checkrail.outcomes import StillWaiting

SUMMARY_LIMIT = 500
SIGNATURE_LIMIT = 1_000

__all__ = [
    "CheckrailHooks",
    "Parked",
    "Ungoverned",
    "add_notes",
    "by_gates",
    "guarded",
    "resolve_interruptions",
    "run_with_checkrail",
]

Input = str | list[TResponseInputItem] | RunState[Any]


class Parked(StillWaiting):
    """Nobody has ruled yet. Keep `state.to_json()` where nobody else can write.

    Later, in any process: `run_with_checkrail(agent, await RunState.from_json(agent,
    kept), run=checkrail.resume(run_id))`.
    """

    def __init__(self, waiting: StillWaiting, state: RunState[Any]) -> None:
        super().__init__(waiting.review, call_id=waiting.call_id)
        self.state = state


# Granted calls of a run that have not begun, by the SDK's ids: an agent that is a tool may
# have hooks of its own.
_granted: WeakKeyDictionary[RunCore, dict[str, CallCore]] = WeakKeyDictionary()


class CheckrailHooks(RunHooks[Any]):
    """Reports turns and results, and lets nothing begin that was not granted.

    For hooks of your own, extend it and call super().
    """

    def __init__(self, run: RunCore, *, timeout: float | None = None) -> None:
        self.run = run
        self.timeout = timeout
        self.calls = _granted.setdefault(run, {})
        self._running: dict[str, list[CallCore]] = {}
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
        if not isinstance(agent, GovernedAgent):
            why = "Nobody is asked about what this agent does: use guarded(agent)."
            raise Ungoverned([agent.name], why, by_choice=False)

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
            elif isinstance(item, McpCall):
                await self._report_hosted_call(agent, item)
            else:
                check_output(agent, item.type)

    async def _report_hosted_call(self, agent: Agent[Any], made: McpCall) -> None:
        """Report a call that the provider ran once it was approved."""
        call = self.calls.pop(made.approval_request_id or "", None)
        if call is not None:
            ok, output = made.error is None, shorten(str(made.error or made.output))
            await drive_async(self.run, result_or_keep(call, ok=ok, output=output))
        elif not is_named(agent, HostedMCPTool.__name__):
            why = f"The provider ran {made.name} before anybody was asked."
            raise Ungoverned([HostedMCPTool.__name__], why)

    async def take_notes(self) -> str:
        """What people wrote and the model has not read yet."""
        return await drive_async(self.run, take_written_notes(self.run))

    def store_note(self, call_id: str, note: str) -> None:
        if note:
            before = self.notes.get(call_id)
            self.notes[call_id] = f"{before}\n{note}" if before else note

    async def on_tool_start(
        self, context: RunContextWrapper[Any], agent: Any, tool: Tool
    ) -> None:
        key = getattr(context, "tool_call_id", "")
        # A shell or a patch does not say which call begins: they do in their order.
        ids = (known for known, call in self.calls.items() if call.tool == tool.name)
        call = self.calls.pop(key or next(ids, ""), None)
        if call is not None:
            self._running.setdefault(key or tool.name, []).append(call)
        elif key not in self._running and not _may_begin(agent, tool):
            why = "It was to run, and nobody was asked about this call."
            raise Ungoverned([tool.name], why, by_choice=False)

    async def on_tool_end(
        self,
        context: RunContextWrapper[Any],
        agent: Any,
        tool: Tool,
        result: object,
    ) -> None:
        running = self._running.get(getattr(context, "tool_call_id", "") or tool.name)
        if running:
            call, output = running.pop(0), shorten(str(result))
            await drive_async(self.run, result_or_keep(call, output=output))


def _may_begin(agent: Agent[Any], tool: Tool) -> bool:
    """Let begin what was named by choice, and an agent that is governed itself: begun again
    in another process, its own grant is not known there."""
    inner = getattr(tool, "_agent_instance", None)
    return isinstance(inner, GovernedAgent) or is_let_through(agent, tool)


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

    An agent that is not `guarded` is guarded here: Ungoverned names what cannot be.
    Raises Parked when nobody ruled within `timeout`, Stopped when the run is over.
    """
    hooks = hooks or CheckrailHooks(run, timeout=timeout)
    options["run_config"] = add_notes(hooks, options.get("run_config"))
    agent, state = guarded(agent), input
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
        if isinstance(
            data.agent, GovernedAgent
        ):  # the run's settings are added to its own
            data.agent.governance.check_raw_settings(config.model_settings)
        filtered = data.model_data if own is None else own(data)
        if inspect.isawaitable(filtered):
            filtered = await filtered
        items = [
            each for item in filtered.input for each in _add_note(item, hooks.notes)
        ]
        return replace(filtered, input=items)

    return replace(config, call_model_input_filter=filter_input)


def _add_note(item: Any, notes: Mapping[str, str]) -> list[Any]:
    """With the result; a message of its own after one that has a form of its own."""
    kind = item.get("type", "") if isinstance(item, dict) else ""
    if not kind.endswith(("_call_output", "mcp_approval_response")):
        return [item]
    note = notes.get(item.get("call_id") or item.get("approval_request_id") or "")
    if not note:
        return [item]
    if kind != "function_call_output":
        return [item, {"role": "user", "content": note}]
    output = item["output"]
    if isinstance(output, str):
        return [{**item, "output": f"{output}\n\n{note}"}]
    return [{**item, "output": [*output, {"type": "input_text", "text": note}]}]


def _build_call(item: ToolApprovalItem) -> WantedCall:
    return WantedCall(
        id=item.call_id or "",
        tool=item.qualified_name or "tool",
        arguments_json=_get_arguments_json(item),
        person=is_for_person(item),
        editable=False,
    )


def _get_arguments_json(item: ToolApprovalItem) -> str:
    """Read them as the model wrote them; what is no object gets a name."""
    raw = item.raw_item
    action = _get_part(raw, "action") or _get_part(raw, "operation")
    if action is not None:
        return encode_sorted(_build_action_arguments(action))
    text = item.arguments or "{}"
    if _get_part(raw, "type") == "function_call":
        return text
    try:
        if isinstance(json.loads(text), dict):
            return text
    except ValueError:
        pass
    return encode_sorted({"input": text})


def _build_action_arguments(action: Any) -> dict[str, Any]:
    """Commands of a shell by the name under which the gates read them, or a patch."""
    plain = action.model_dump(mode="json") if hasattr(action, "model_dump") else action
    fields = {name: value for name, value in plain.items() if value is not None}
    commands = fields.pop("commands", None)
    if commands is not None:
        fields["command"] = commands[0] if len(commands) == 1 else commands
    return fields


def _get_part(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


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
