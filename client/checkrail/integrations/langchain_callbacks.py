"""LangGraph and LangChain without an agent of theirs: turns are steps, tools are judged.

`graph.invoke(input, {"callbacks": [CheckrailCallback(run)]})`. Tokens, cost and time are reported; pauses are waited for, and a
stop raises Stopped out of the graph. Each tool that starts is put to the gates; what is
refused raises NotRun. `CheckrailMiddleware` does the same: use one of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import LLMResult

from checkrail.answers import Decision
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import step
from checkrail.integrations.langchain_gate import (
    ToolGate,
    check_provider_tools,
    check_turn,
)
from checkrail.integrations.seams import read_names
from checkrail.transport.effects import Flow

SUMMARY_LIMIT = 500


class _Steps(ToolGate):
    """Answers of models as steps of a run, timed from the question on."""

    def __init__(
        self,
        run: RunCore,
        *,
        timeout: float | None = None,
        ungoverned: Sequence[str] = (),
    ) -> None:
        super().__init__(run, timeout=timeout)
        self.ungoverned = read_names(ungoverned)
        self._began: dict[UUID, float] = {}

    def _begin(self, question: UUID, more: Mapping[str, Any]) -> None:
        parameters = more.get("invocation_params") or {}
        check_provider_tools(parameters.get("tools") or (), self.ungoverned)
        self._began[question] = time.monotonic()

    def _report(self, question: UUID, result: LLMResult) -> Flow[Decision]:
        began = self._began.pop(question, None)
        messages = list(_list_messages(result))
        told = " ".join(str(message.text) for message in messages)
        calls = [call["name"] for message in messages for call in message.tool_calls]
        return step(
            self.run,
            usage=[message for message in messages if message.usage_metadata],
            # Those that run as tools are counted when they are judged.
            tool_calls=0,
            duration_ms=None
            if began is None
            else round((time.monotonic() - began) * 1000),
            summary=(told.strip() or ", ".join(calls))[:SUMMARY_LIMIT],
            timeout=self.timeout,
        )

    def _check(self, result: LLMResult) -> None:
        for message in _list_messages(result):
            check_turn(message, self.ungoverned)


class CheckrailCallback(_Steps, BaseCallbackHandler):
    """For graphs that are invoked or awaited, with either kind of run where they are
    awaited; `timeout`: how long a person is waited for. `ungoverned` names tools that the
    provider of a model may run with nobody asked.
    """

    def on_chat_model_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        self._begin(run_id, more)

    def on_llm_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        self._begin(run_id, more)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self._drive(self._report(run_id, response), "model")
        self._check(response)


class AsyncCheckrailCallback(CheckrailCallback):
    """The same, by the name that it has beside AsyncCheckrail."""


def _list_messages(result: LLMResult) -> Iterator[AIMessage]:
    for generations in result.generations:
        for generation in generations:
            message = getattr(generation, "message", None)
            if isinstance(message, AIMessage):
                yield message
