"""Tools that the provider of a model runs itself are refused, unless they are named."""

from __future__ import annotations

from typing import Any

import pytest
from checkrail import Checkrail, Ungoverned
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langchain_callbacks import CheckrailCallback
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage

from tests.integrations.scripted import ScriptedModel, says

WEB = {"type": "web_search_20250305", "name": "web_search"}
TIDY_UP: Any = {"messages": ["Tidy up"]}


def test_tools_of_the_provider_are_refused_unless_they_are_named(
    checkrail: Checkrail,
) -> None:
    script = [says("Done.")]
    with checkrail.run("Look around") as run:
        for ungoverned in ([], ["web_search"]):
            middleware = CheckrailMiddleware(run, ungoverned=ungoverned)
            rails = create_agent(
                ScriptedModel(script=script), [WEB], middleware=[middleware]
            )
            with pytest.raises(Ungoverned, match=r"\['web_search_20250305'\]"):
                rails.invoke(TIDY_UP)
        middleware = CheckrailMiddleware(run, ungoverned=[WEB["type"]])
        rails = create_agent(
            ScriptedModel(script=script), [WEB], middleware=[middleware]
        )
        assert rails.invoke(TIDY_UP)["messages"][-1].text == "Done."
        with pytest.raises(TypeError, match="list"):
            CheckrailMiddleware(run, ungoverned=WEB["type"])


class Settings(AgentMiddleware[Any, Any, Any]):
    """Gives the model tools past the agent's list."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={"tools": [WEB]}))


def test_tools_in_settings_are_refused(checkrail: Checkrail) -> None:
    with checkrail.run("Look around") as run:
        rails = create_agent(
            ScriptedModel(script=[says("Done.")]),
            [],
            middleware=[Settings(), CheckrailMiddleware(run)],
        )
        with pytest.raises(Ungoverned, match="web_search"):
            rails.invoke(TIDY_UP)


def searched() -> AIMessage:
    block = {"type": "server_tool_call", "id": "s-1", "name": "web_search", "args": {}}
    return AIMessage(content=[block, {"type": "text", "text": "Found."}])


def test_what_a_provider_ran_unasked_ends_the_agent(checkrail: Checkrail) -> None:
    with checkrail.run("Look around") as run:
        for ungoverned in ([], ["code_execution"]):
            rails = create_agent(
                ScriptedModel(script=[searched()]),
                [],
                middleware=[CheckrailMiddleware(run, ungoverned=ungoverned)],
            )
            with pytest.raises(Ungoverned, match="web_search"):
                rails.invoke(TIDY_UP)
        named = CheckrailMiddleware(run, ungoverned=[WEB["type"]])
        create_agent(ScriptedModel(script=[searched()]), [], middleware=[named]).invoke(
            TIDY_UP
        )


def test_callbacks_refuse_tools_of_the_provider(checkrail: Checkrail) -> None:
    function = {"type": "function", "function": {"name": "run_command"}}
    with checkrail.run("Look around") as run:
        model = ScriptedModel(script=[says("Done.")])
        config: Any = {"callbacks": [CheckrailCallback(run)]}
        model.bind(tools=[function]).invoke("Go", config)
        with pytest.raises(Ungoverned, match="web_search"):
            model.bind(tools=[function, WEB]).invoke("Go", config)
        config = {"callbacks": [CheckrailCallback(run, ungoverned=[WEB["type"]])]}
        model.bind(tools=[WEB]).invoke("Go", config)
        config = {"callbacks": [CheckrailCallback(run)]}
        with pytest.raises(Ungoverned, match="web_search"):
            ScriptedModel(script=[searched()]).invoke("Go", config)
