"""Every place where an agent of the real SDK can act is governed, or refused by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import agents
import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    CodeInterpreterTool,
    ComputerTool,
    CustomTool,
    FileSearchTool,
    FunctionTool,
    HostedMCPTool,
    ImageGenerationTool,
    LocalShellTool,
    ModelSettings,
    ShellTool,
    Tool,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.realtime import RealtimeAgent
from agents.sandbox import SandboxAgent
from agents.tool import ProgrammaticToolCallingTool, ToolSearchTool
from checkrail.integrations.openai_agents import Ungoverned, by_gates, guarded
from checkrail.integrations.openai_seams import AskGates, GovernedAgent

GOVERNED: dict[str, Any] = {
    "FunctionTool": lambda: function_tool(lambda: "", name_override="look"),
    "ShellTool": lambda: ShellTool(executor=lambda request: ""),
    "ApplyPatchTool": lambda: ApplyPatchTool(editor=None),  # type: ignore[arg-type]
    "CustomTool": lambda: CustomTool("raw", "", on_invoke_tool=lambda *_: ""),
    "HostedMCPTool": lambda: HostedMCPTool(
        tool_config={
            "type": "mcp",
            "server_label": "files",
            "server_url": "https://files.invalid",
            "require_approval": "never",
        }
    ),
}
REFUSED: dict[str, Any] = {
    "FileSearchTool": lambda: FileSearchTool(vector_store_ids=[]),
    "WebSearchTool": WebSearchTool,
    "ComputerTool": lambda: ComputerTool(computer=lambda **_: None),  # type: ignore[arg-type]
    "LocalShellTool": lambda: LocalShellTool(executor=lambda request: ""),
    "ImageGenerationTool": lambda: ImageGenerationTool({"type": "image_generation"}),
    "CodeInterpreterTool": lambda: CodeInterpreterTool(
        {"type": "code_interpreter", "container": "auto"}
    ),
    "ToolSearchTool": ToolSearchTool,
    "ProgrammaticToolCallingTool": ProgrammaticToolCallingTool,
}
# Tools of the sandbox: each is one of the above, and is governed as that.
SUBCLASSES = {
    "ExecCommandTool": FunctionTool,
    "WriteStdinTool": FunctionTool,
    "ViewImageTool": FunctionTool,
    "_LoadSkillTool": FunctionTool,
    "SandboxApplyPatchTool": CustomTool,
}
# What an agent holds beside its tools: none of it acts, or it is governed here.
FIELDS = {
    "acts": {"tools", "mcp_servers", "handoffs", "prompt", "model_settings"},
    "acts in a sandbox, by tools": {
        "capabilities",
        "_sandbox_capability_tools",
    },
    "words and settings": {
        "name",
        "handoff_description",
        "instructions",
        "base_instructions",
        "mcp_config",
        "model",
        "output_type",
        "tool_use_behavior",
        "reset_tool_choice",
        "default_manifest",
        "run_as",
        "_sandbox_concurrency_guard",
    },
    "the author's own code": {"hooks", "input_guardrails", "output_guardrails"},
}


def list_modules() -> Iterator[Any]:
    for module in pkgutil.walk_packages(agents.__path__, "agents."):
        try:
            yield importlib.import_module(module.name)
        except ImportError:
            continue  # it needs another package, which is not installed


def list_subclasses(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from list_subclasses(each)


def get_class(kind: Any) -> type:
    found: type = getattr(kind, "__origin__", kind)
    return found


def test_every_kind_of_tool_is_known() -> None:
    """A kind that a newer package brings fails here until it has its place."""
    assert list(list_modules())
    kinds = list(map(get_class, get_args(Tool)))
    assert {kind.__name__ for kind in kinds} == {*GOVERNED, *REFUSED}
    below = {each for kind in kinds for each in list_subclasses(kind)}
    ours = {each for each in below if each.__module__.startswith("agents.")}
    assert {each.__name__ for each in ours} == set(SUBCLASSES)
    assert all(issubclass(each, SUBCLASSES[each.__name__]) for each in ours)


def test_every_field_of_an_agent_is_known() -> None:
    held = {field for kind in (Agent, SandboxAgent) for field in list_fields(kind)}
    assert held == set().union(*FIELDS.values())


def list_fields(kind: Any) -> set[str]:
    return set(kind.__dataclass_fields__)


@pytest.mark.parametrize("name", GOVERNED)
async def test_governed(name: str) -> None:
    tool = GOVERNED[name]()
    agent = guarded(Agent("robo", tools=[tool]))
    governed: Any
    (governed,) = await agent.get_all_tools(agents.RunContextWrapper(None))
    assert type(governed) is type(tool)
    assert governed is not tool
    if isinstance(governed, HostedMCPTool):
        assert governed.tool_config["require_approval"] == "always"
        assert tool.tool_config["require_approval"] == "never"
        return
    assert isinstance(governed.needs_approval, AskGates)
    if isinstance(governed, CustomTool):
        assert governed.runtime_needs_approval() is governed.needs_approval
    assert tool.needs_approval is False


@pytest.mark.parametrize("name", REFUSED)
def test_refused_unless_it_is_named(name: str) -> None:
    agent = Agent("robo", tools=[REFUSED[name]()])
    with pytest.raises(Ungoverned) as refused:
        guarded(agent)
    assert refused.value.names == (name,)
    assert f"ungoverned=['{name}']" in str(refused.value)
    other = next(other for other in REFUSED if other != name)
    with pytest.raises(Ungoverned):
        guarded(agent, ungoverned=[other])
    assert guarded(agent, ungoverned=[name]).tools == agent.tools


def answers_itself(tool: Any) -> Any:
    tool.on_approval = lambda *_: {"approve": True}
    return tool


OPAQUE: dict[str, tuple[str, Any]] = {
    "shell": ("ShellTool", lambda: answers_itself(GOVERNED["ShellTool"]())),
    "patch": ("ApplyPatchTool", lambda: answers_itself(GOVERNED["ApplyPatchTool"]())),
    "custom": ("CustomTool", lambda: answers_itself(GOVERNED["CustomTool"]())),
    "hosted shell": (
        "ShellTool",
        lambda: ShellTool(environment={"type": "container_auto"}),
    ),
    "hosted server": (
        "HostedMCPTool",
        lambda: HostedMCPTool(
            tool_config={"type": "mcp", "server_label": "files"},
            on_approval_request=lambda request: {"approve": True},
        ),
    ),
    "agent": ("ask_aide", lambda: Agent("aide").as_tool("ask_aide", "")),
}


@pytest.mark.parametrize("kind", OPAQUE)
def test_what_answers_in_our_place_is_refused(kind: str) -> None:
    name, build = OPAQUE[kind]
    agent = Agent("robo", tools=[build()])
    with pytest.raises(Ungoverned) as refused:
        guarded(agent)
    assert refused.value.names == (name,)
    assert guarded(agent, ungoverned=[name]).tools == agent.tools


def test_a_tool_made_of_a_governed_agent_is_governed() -> None:
    tool = guarded(Agent("aide")).as_tool("ask_aide", "")
    (governed,) = guarded(Agent("robo", tools=[tool])).tools
    assert isinstance(governed, FunctionTool)
    assert isinstance(governed.needs_approval, AskGates)


def test_settings_that_bring_tools_are_refused() -> None:
    prompted = Agent("robo", prompt={"id": "pmpt_1"})
    raw = ModelSettings(extra_body={"tools": [{"type": "web_search"}]})
    with pytest.raises(Ungoverned, match="prompt"):
        guarded(prompted)
    with pytest.raises(Ungoverned, match="extra_body"):
        guarded(Agent("robo", model_settings=raw))
    guarded(prompted, ungoverned=["prompt"])
    guarded(Agent("robo", model_settings=raw), ungoverned=["extra_body"])
    harmless = ModelSettings(extra_body={"seed": 1})
    guarded(Agent("robo", model_settings=harmless))


def test_other_agents_are_refused() -> None:
    with pytest.raises(Ungoverned, match="RealtimeAgent"):
        guarded(RealtimeAgent("robo"))  # type: ignore[arg-type]


def test_names_are_checked() -> None:
    agent = Agent("robo", tools=[GOVERNED["FunctionTool"]()])
    for name in ("WebSearch", "FunctionTool", "look"):
        with pytest.raises(ValueError, match=name):
            guarded(agent, ungoverned=[name])
    with pytest.raises(TypeError, match="list"):
        guarded(agent, ungoverned="WebSearchTool")


def test_the_authors_agents_stay_as_they_are() -> None:
    aide = Agent("aide", tools=[GOVERNED["FunctionTool"]()])
    agent = Agent("robo", tools=[GOVERNED["ShellTool"]()], handoffs=[aide])
    governed = guarded(agent)
    assert governed.handoffs[0] is not aide
    assert type(agent) is type(aide) is Agent
    assert agent.handoffs == [aide]
    for tool in (*agent.tools, *aide.tools):
        assert tool.needs_approval is False  # type: ignore[union-attr]
    assert guarded(governed) is governed


async def test_handoffs_lead_to_governed_agents() -> None:
    """However they are made, in a circle, and attached afterwards."""
    searcher = Agent("searcher", tools=[WebSearchTool()])
    with pytest.raises(Ungoverned, match="WebSearchTool"):
        guarded(Agent("robo", handoffs=[searcher]))
    with pytest.raises(Ungoverned, match="WebSearchTool"):
        guarded(Agent("robo", handoffs=[handoff(searcher)]))

    agent, aide = Agent("robo"), Agent("aide")
    agent.handoffs = [aide]
    aide.handoffs = [handoff(agent)]
    governed = guarded(agent)
    (inner,) = governed.handoffs
    assert isinstance(inner, GovernedAgent)
    (back,) = inner.handoffs
    context = agents.RunContextWrapper(None)
    assert await back.on_invoke_handoff(context, "") is governed
    assert back._agent_ref is not None
    assert back._agent_ref() is governed

    governed.handoffs.append(searcher)
    with pytest.raises(Ungoverned, match="WebSearchTool"):
        _ = governed.handoffs


async def test_what_is_attached_later_is_governed_or_refused() -> None:
    agent = guarded(Agent("robo"))
    context = agents.RunContextWrapper(None)
    agent.tools.append(GOVERNED["FunctionTool"]())
    (governed,) = await agent.get_all_tools(context)
    assert isinstance(governed, FunctionTool)
    assert isinstance(governed.needs_approval, AskGates)

    copied = agent.clone(tools=[WebSearchTool()])
    with pytest.raises(Ungoverned, match="WebSearchTool"):
        await copied.get_all_tools(context)
    prompted = agent.clone(prompt={"id": "pmpt_1"})
    with pytest.raises(Ungoverned, match="prompt"):
        await prompted.get_all_tools(context)


async def test_tools_of_a_sandbox_are_governed() -> None:
    agent: SandboxAgent[Any] = SandboxAgent("robo")
    governed = guarded(agent)
    assert isinstance(governed, SandboxAgent)
    copied = governed.clone()
    copied._sandbox_capability_tools = [GOVERNED["FunctionTool"]()]
    (tool,) = await copied.get_all_tools(agents.RunContextWrapper(None))
    assert isinstance(tool, FunctionTool)
    assert isinstance(tool.needs_approval, AskGates)


def test_a_rule_that_leaves_all_to_the_gates_stays() -> None:
    tool = function_tool(lambda: "", name_override="look", needs_approval=by_gates)
    assert guarded(Agent("robo", tools=[tool])).tools == [tool]
