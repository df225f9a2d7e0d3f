"""LangGraph and LangChain without an agent of theirs: each answer of a model is a step.

`graph.invoke(input, {"callbacks": [CheckrailCallback(run)]})`, and for an asynchronous run
`AsyncCheckrailCallback`. Tokens, cost and time are reported; pauses are waited for, and a
stop raises Stopped out of the graph. `CheckrailMiddleware` reports the same: use one of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import LLMResult

from checkrail.answers import Decision
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import step
from checkrail.integrations.drivers import drive_async, drive_now
from checkrail.transport.effects import Flow

SUMMARY_LIMIT = 500


class _Steps:
    """Answers of models as steps of a run, timed from the question on."""

    # Else LangChain would log what a step raises, and go on.
    raise_error = True

    def __init__(self, run: RunCore, *, timeout: float | None = None) -> None:
        super().__init__()
        self.run = run
        self.timeout = timeout
        self._began: dict[UUID, float] = {}

    def _begin(self, question: UUID) -> None:
        self._began[question] = time.monotonic()

    def _report(self, question: UUID, result: LLMResult) -> Flow[Decision]:
        began = self._began.pop(question, None)
        messages = list(_list_messages(result))
        told = " ".join(str(message.text) for message in messages)
        calls = [call["name"] for message in messages for call in message.tool_calls]
        return step(
            self.run,
            usage=[message for message in messages if message.usage_metadata],
            tool_calls=len(calls),
            duration_ms=None
            if began is None
            else round((time.monotonic() - began) * 1000),
            summary=(told.strip() or ", ".join(calls))[:SUMMARY_LIMIT],
            timeout=self.timeout,
        )


class CheckrailCallback(_Steps, BaseCallbackHandler):
    """For graphs that are invoked; `timeout`: how long a person is waited for."""

    def on_chat_model_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        self._begin(run_id)

    def on_llm_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        self._begin(run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        drive_now(self.run, self._report(run_id, response))


class AsyncCheckrailCallback(_Steps, AsyncCallbackHandler):
    """The same for graphs that are awaited, with either kind of run."""

    async def on_chat_model_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        self._begin(run_id)

    async def on_llm_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        self._begin(run_id)

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        await drive_async(self.run, self._report(run_id, response))


def _list_messages(result: LLMResult) -> Iterator[AIMessage]:
    for generations in result.generations:
        for generation in generations:
            message = getattr(generation, "message", None)
            if isinstance(message, AIMessage):
                yield message
