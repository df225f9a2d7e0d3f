"""A LangChain agent on LangGraph: gates before each tool, people where the graph asks.

The model is scripted, so nothing but Checkrail is needed to try it. The gates judge
`run_command`; `publish` is put to a person by the graph itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkrail import Checkrail
from checkrail.integrations.langchain import CheckrailMiddleware
from checkrail.integrations.langgraph import drive
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("run_command", {"command": "ls"}),
    ("run_command", {"command": "rm -rf build"}),
    ("publish", {"version": "1.4.0"}),
]


class ScriptedModel(BaseChatModel):
    """Stands for any chat model that calls tools."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        usage: Any = {"input_tokens": 900, "output_tokens": 40, "total_tokens": 940}
        if turn < len(SCRIPT):
            name, args = SCRIPT[turn]
            calls = [{"name": name, "args": args, "id": f"call-{turn}"}]
            said = AIMessage(content="", tool_calls=calls, usage_metadata=usage)
        else:
            said = AIMessage(content="Released.", usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=said)])


def run_command(command: str) -> str:
    """Run a command."""
    print(f"running: {command}")
    return "ok"


def publish(version: str) -> str:
    """Publish a version."""
    print(f"publishing: {version}")
    return "published"


def main() -> None:
    client = Checkrail()
    with client.run("Release 1.4.0", on_wait=lambda review: print(review.url)) as run:
        agent = create_agent(
            ScriptedModel(),
            [run_command, publish],
            middleware=[
                HumanInTheLoopMiddleware({"publish": True}),
                CheckrailMiddleware(run),
            ],
            checkpointer=InMemorySaver(),
        )
        config = {"configurable": {"thread_id": run.id}}
        result = drive(agent, {"messages": ["Release 1.4.0"]}, config, run)
        print(result["messages"][-1].text)


if __name__ == "__main__":
    main()
