"""A chat model that says what it was told to say, and graphs that interrupt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class ScriptedModel(BaseChatModel):
    """Its n-th answer is the n-th line, also after a restart: it keeps no state."""

    script: list[AIMessage]
    heard: list[list[BaseMessage]] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **more: Any) -> ScriptedModel:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **more: Any,
    ) -> ChatResult:
        self.heard.append(messages)
        spoken = sum(isinstance(message, AIMessage) for message in messages)
        line = self.script[spoken].model_copy(update={"id": f"turn-{spoken}"})
        return ChatResult(generations=[ChatGeneration(message=line)])


def calls(*wanted: tuple[str, dict[str, Any]], tokens: int = 100) -> AIMessage:
    return AIMessage(
        content="",
        tool_calls=[
            {"name": name, "args": args, "id": f"call-{index}", "type": "tool_call"}
            for index, (name, args) in enumerate(wanted)
        ],
        usage_metadata=usage(tokens),
    )


def says(text: str, *, tokens: int = 50) -> AIMessage:
    return AIMessage(content=text, usage_metadata=usage(tokens))


def usage(tokens: int) -> Any:
    return {"input_tokens": tokens - 10, "output_tokens": 10, "total_tokens": tokens}


def recorder(ran: list[Any]) -> Callable[[str], str]:
    def run_command(command: str) -> str:
        """Run a command in a shell."""
        ran.append(command)
        return f"done: {command}"

    return run_command
