"""What the provider of a model runs by itself, past an agent's own tools, ends the agent."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from agents import Agent, ModelSettings, RunConfig
from checkrail import AsyncCheckrail, Ungoverned
from checkrail.integrations.openai_agents import guarded, run_with_checkrail
from checkrail.integrations.openai_seams import PROVIDER_RUNS
from checkrail.testing import fake_checkrail
from openai.types.responses import ResponseFunctionWebSearch, ResponseOutputItem

from tests.integrations.test_openai_reach import SILENT, script
from tests.integrations.test_openai_seams import GOVERNED, REFUSED

RAW = ModelSettings(extra_body={"tools": [{"type": "web_search"}]})
# Calls that run here, and are put to the gates, or are asked about by the provider.
ASKED = {
    *("function_call", "custom_tool_call", "shell_call", "apply_patch_call"),
    *("computer_call", "local_shell_call", "mcp_call", "mcp_approval_request"),
}
# What is said, listed, or the result of one of the others.
SAID = {
    *("message", "reasoning", "compaction", "additional_tools", "mcp_list_tools"),
    *("function_call_output", "custom_tool_call_output", "computer_call_output"),
    *("local_shell_call_output", "apply_patch_call_output", "mcp_approval_response"),
    *("program_output", "tool_search_output"),
}


def test_every_kind_of_output_is_known() -> None:
    """A kind that a newer package brings fails here until it has its place."""
    (union, *_) = get_args(ResponseOutputItem)
    kinds = {
        get_args(each.model_fields["type"].annotation)[0] for each in get_args(union)
    }
    assert kinds == ASKED | SAID | set(PROVIDER_RUNS)
    assert set(PROVIDER_RUNS.values()) <= {*GOVERNED, *REFUSED}


async def ask(agent: Agent[Any], config: RunConfig = SILENT) -> str:
    with fake_checkrail():
        async with AsyncCheckrail().run("Look around") as run:
            result = await run_with_checkrail(
                agent, "Look around", run=run, run_config=config
            )
    return str(result.final_output)


async def test_settings_of_a_run_bring_no_tools() -> None:
    config = RunConfig(tracing_disabled=True, model_settings=RAW)
    model = script()
    with pytest.raises(Ungoverned, match="extra_body"):
        await ask(guarded(Agent("robo", model=model)), config)
    assert len(model.calls) == 0
    named = guarded(Agent("robo", model=model), ungoverned=["extra_body"])
    assert await ask(named, config) == "Done."


@pytest.mark.parametrize(
    ("ungoverned", "goes_on"),
    [
        ([], False),
        (["CodeInterpreterTool"], False),
        (["WebSearchTool"], True),
        (["extra_args"], True),
    ],
)
async def test_what_the_provider_ran_unasked_ends_the_agent(
    ungoverned: list[str], goes_on: bool
) -> None:
    searched = ResponseFunctionWebSearch.model_validate(
        {
            "id": "search-1",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "shop"},
        }
    )
    agent = guarded(Agent("robo", model=script(searched)), ungoverned=ungoverned)
    if goes_on:
        assert await ask(agent) == "Done."
        return
    with pytest.raises(Ungoverned, match="WebSearchTool"):
        await ask(agent)
