"""Every place where an agent of the OpenAI Agents SDK can act, governed or refused.

An agent is made one of a class that governs its tools and hand-offs whenever the SDK reads
them: also those of MCP servers, which are listed at run time, and what is attached later.
"""

from __future__ import annotations

import copy
import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    Handoff,
    HostedMCPTool,
    ModelSettings,
    RunContextWrapper,
    ShellTool,
    Tool,
)
from agents.items import ToolApprovalItem

from checkrail.errors import Ungoverned
from checkrail.integrations.seams import check_names

Context = TypeVar("Context")
# Settings by which tools reach a model past the agent's own list.
RAW_SETTINGS = ("extra_body", "extra_args")
# What comes back of a model whose provider ran something: by which tool.
PROVIDER_RUNS = {
    "code_interpreter_call": "CodeInterpreterTool",
    "file_search_call": "FileSearchTool",
    "image_generation_call": "ImageGenerationTool",
    "program": "ProgrammaticToolCallingTool",
    "shell_call_output": "ShellTool",
    "tool_search_call": "ToolSearchTool",
    "web_search_call": "WebSearchTool",
}


class AskGates:
    """The `needs_approval` of a tool that puts every call to the gates.

    `own` is the tool's own rule: where it wants approval, a person is asked, whatever
    the gates say. `answers` keeps what it said, by the id of the call.
    """

    def __init__(
        self, own: Any = False, answers: dict[str, bool] | None = None
    ) -> None:
        self.own = own
        self._answers = answers

    async def __call__(
        self, context: RunContextWrapper[Any], asked: Any, call_id: str
    ) -> bool:
        wanted = self.own(context, asked, call_id) if callable(self.own) else self.own
        if inspect.isawaitable(wanted):
            wanted = await wanted
        if self._answers is not None:
            self._answers[call_id] = bool(wanted)
        return True


by_gates = AskGates()


class Governance:
    """The choices of one call of `guarded`, for an agent and all that it hands over to."""

    def __init__(self, ungoverned: frozenset[str] = frozenset()) -> None:
        self.ungoverned = ungoverned
        # Whether a tool's own rule wants a person, until the call is resolved.
        self.answers: dict[str, bool] = {}
        # What hosted MCP servers were to ask about, by their labels.
        self._hosted: dict[str, Any] = {}
        # The SDK compares agents by identity: one and the same for each of the author's.
        self._agents: dict[int, tuple[Agent[Any], Agent[Any]]] = {}

    def is_for_person(self, item: ToolApprovalItem, agent: Agent[Any]) -> bool:
        """Also where no rule was asked here: another process may have done it."""
        label = _get_part(item.raw_item, "server_label")
        if label is not None:
            return not _is_never_asked(self._hosted.get(label), item.tool_name)
        answer = self.answers.get(item.call_id or "")
        if answer is not None:
            return answer
        rules = [
            getattr(tool, "needs_approval", None)
            for tool in agent.tools
            if tool.name == item.tool_name
        ]
        return not any(isinstance(r, AskGates) and r.own is False for r in rules)

    def govern_agent(self, agent: Any) -> Agent[Any]:
        if isinstance(agent, GovernedAgent):
            return agent
        if not isinstance(agent, Agent):
            why = "Only agents of the kind that `Runner` runs can be governed."
            raise Ungoverned([type(agent).__name__], why)
        known = self._agents.get(id(agent))
        if known is None:
            governed, own = agent.clone(), type(agent)
            names = {"governance": self, "__doc__": own.__doc__}
            governed.__class__ = type(own.__name__, (GovernedAgent, own), names)
            self._agents[id(agent)] = known = (agent, governed)
            governed.tools = [self.govern_tool(tool) for tool in agent.tools]
            governed.handoffs = agent.handoffs
            _ = governed.handoffs  # governs them, so that what cannot be is refused now
            self.check_settings(governed)
        return known[1]

    def govern_handoff(self, handoff: Any) -> Any:
        if isinstance(handoff, Agent):
            return self.govern_agent(handoff)
        invoke = getattr(handoff, "on_invoke_handoff", None)
        if not isinstance(handoff, Handoff) or invoke is None:
            return self._refuse(handoff, "This kind of hand-off is not known.")
        if isinstance(invoke, _GovernedInvoke):
            return handoff
        governed = copy.copy(handoff)
        governed.on_invoke_handoff = _GovernedInvoke(self, invoke)
        target = handoff._agent_ref() if handoff._agent_ref is not None else None
        if target is not None:  # where a kept state looks for the agent of this name
            governed._agent_ref = weakref.ref(self.govern_agent(target))
        return governed

    def govern_tool(self, tool: Any) -> Any:
        """A copy that asks for approval, or Ungoverned."""
        if isinstance(tool, FunctionTool):
            return self._govern_function(tool)
        if isinstance(tool, ShellTool | ApplyPatchTool):
            is_remote = isinstance(tool, ShellTool) and tool.executor is None
            if is_remote:
                return self._refuse(tool, "The provider runs its commands.")
            if tool.on_approval is not None:
                return self._refuse(tool, "Its `on_approval` answers in our place.")
            return self._add_rule(tool, tool.needs_approval)
        if isinstance(tool, CustomTool):
            if tool.runtime_on_approval() is not None:
                return self._refuse(tool, "Its `on_approval` answers in our place.")
            return self._add_rule(tool, tool.runtime_needs_approval())
        if isinstance(tool, HostedMCPTool):
            if tool.on_approval_request is not None:
                why = "Its `on_approval_request` answers in our place."
                return self._refuse(tool, why)
            asked = tool.tool_config.get("require_approval")
            if asked == "always":
                return tool
            self._hosted[tool.tool_config["server_label"]] = asked
            governed = copy.copy(tool)
            governed.tool_config = {**tool.tool_config, "require_approval": "always"}
            return governed
        why = "The provider runs it, or it takes no approval: no gate can hold it."
        return self._refuse(tool, why)

    def _govern_function(self, tool: FunctionTool) -> Any:
        inner = tool._agent_instance
        if tool._is_agent_tool and not isinstance(inner, GovernedAgent):
            why = "Make it of a governed agent: guarded(agent).as_tool(…)."
            return self._refuse(tool, why, name=tool.name)
        if tool._is_codex_tool:
            why = (
                "Codex acts on its own inside: install its hooks, `checkrail install`."
            )
            return self._refuse(tool, why, name=tool.name)
        return self._add_rule(tool, tool.needs_approval)

    def _add_rule(self, tool: Any, own: Any) -> Any:
        if isinstance(own, AskGates):
            return tool
        governed = copy.copy(tool)
        governed.needs_approval = rule = AskGates(own, self.answers)
        if isinstance(governed, CustomTool):
            # A subclass may have a rule of its own, which looks at part of the calls.
            vars(governed)["runtime_needs_approval"] = lambda: rule
        return governed

    def check_settings(self, agent: Agent[Any]) -> None:
        if agent.prompt is not None and "prompt" not in self.ungoverned:
            raise Ungoverned(
                ["prompt"], "A stored prompt may bring tools that nobody sees here."
            )
        self.check_raw_settings(agent.model_settings)

    def check_raw_settings(self, settings: ModelSettings | None) -> None:
        for name in RAW_SETTINGS:
            raw = getattr(settings, name, None)
            if isinstance(raw, dict) and "tools" in raw and name not in self.ungoverned:
                why = "Tools in the raw settings of a model pass every gate."
                raise Ungoverned([name], why)

    def _refuse(self, seam: Any, why: str, *, name: str = "") -> Any:
        if not self.ungoverned.isdisjoint(_list_names(seam)):
            return seam
        raise Ungoverned([name or type(seam).__name__], why)


class _GovernedInvoke:
    """A hand-off whose agent is governed, whichever it turns out to be."""

    def __init__(self, governance: Governance, invoke: Callable[..., Any]) -> None:
        self._governance = governance
        self._invoke = invoke

    async def __call__(self, context: RunContextWrapper[Any], given: str) -> Agent[Any]:
        return self._governance.govern_agent(await self._invoke(context, given))


class GovernedAgent(Agent[Any]):
    """Mixed into the class of an agent; copies that the SDK makes of it are governed."""

    governance: Governance = Governance()

    @property
    def handoffs(self) -> list[Any]:
        """Governed in their place each time they are read."""
        listed: list[Any] = self.__dict__["handoffs"]
        for index, handoff in enumerate(listed):
            listed[index] = self.governance.govern_handoff(handoff)
        return listed

    @handoffs.setter
    def handoffs(self, handoffs: Sequence[Any]) -> None:
        self.__dict__["handoffs"] = list(handoffs)  # the author's own stay as they are

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        self.governance.check_settings(self)
        tools = await super().get_all_tools(run_context)
        return [self.governance.govern_tool(tool) for tool in tools]


def guarded(agent: Agent[Context], *, ungoverned: Iterable[str] = ()) -> Agent[Context]:
    """The agent with every tool, MCP server and hand-off put to the gates.

    Raises Ungoverned for what no gate can hold, such as tools that the provider runs;
    `ungoverned` names what may act with nobody asked. A tool that needs approval by a
    rule of its own keeps it: there a person is asked even where the gates allow.
    """
    names = check_names(ungoverned, {*KNOWN_NAMES, *_list_opaque_tools(agent)})
    return Governance(names).govern_agent(agent)


def is_let_through(agent: Agent[Any], tool: Any) -> bool:
    return any(is_named(agent, name) for name in _list_names(tool))


def is_named(agent: Agent[Any], name: str) -> bool:
    """Tell whether this may act with nobody asked."""
    return isinstance(agent, GovernedAgent) and name in agent.governance.ungoverned


def check_output(agent: Agent[Any], kind: str) -> None:
    """Refuse to go on where the provider ran a tool that nobody named."""
    tool = PROVIDER_RUNS.get(kind)
    if tool is None:
        return
    # Under the other names an author lets tools act that are not seen here.
    if not any(is_named(agent, each) for each in (tool, "prompt", *RAW_SETTINGS)):
        raise Ungoverned([tool], "The provider ran it with nobody asked.")


def is_for_person(item: ToolApprovalItem) -> bool:
    """Tell whether a person is asked about it even where the gates allow it."""
    agent = item.agent
    governance = agent.governance if isinstance(agent, GovernedAgent) else Governance()
    return governance.is_for_person(item, agent)


def _list_opaque_tools(
    agent: Any, above: frozenset[int] = frozenset()
) -> Iterator[str]:
    """Function tools that act on their own inside: these can be let through by name."""
    if not isinstance(agent, Agent) or id(agent) in above:
        return
    for tool in agent.tools:
        if isinstance(tool, FunctionTool) and _is_opaque(tool):
            yield tool.name
    for handoff in agent.handoffs:
        yield from _list_opaque_tools(handoff, above | {id(agent)})


def _is_opaque(tool: FunctionTool) -> bool:
    return tool._is_agent_tool or tool._is_codex_tool


def _list_names(seam: Any) -> set[str]:
    """List the names by which it can be let through: its type, or the tool's own name."""
    if isinstance(seam, FunctionTool):
        return {seam.name} if _is_opaque(seam) else set()
    return {kind.__name__ for kind in type(seam).__mro__}


def _is_never_asked(require_approval: Any, tool: str | None) -> bool:
    """In the words of the provider, by which a server asks always unless told."""
    if isinstance(require_approval, Mapping):
        never = require_approval.get("never") or {}
        return tool in (never.get("tool_names") or ())
    return bool(require_approval == "never")


def _get_part(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _list_known_names() -> Iterator[str]:
    for kind in get_args(Tool):
        name = getattr(kind, "__origin__", kind).__name__
        if name != FunctionTool.__name__:
            yield name
    yield from ("prompt", *RAW_SETTINGS)


KNOWN_NAMES = frozenset(_list_known_names())
