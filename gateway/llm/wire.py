"""The two ways models are spoken to: OpenAI's chat completions, Anthropic's messages.

Both are asked for an answer of one JSON form and give it as one text. No sampling
parameters: newer models refuse them. Nor is a tool call forced on Anthropic's, for the
same reason. A reply may hold more fields than are read here, but never less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.llm.endpoint import Endpoint
from gateway.llm.questions import Question

REFUSED = "the model refused to answer"
CUT_OFF = "the answer was cut off: it needs more tokens than it may have"
# No one reply takes more: a larger figure is a mistake, and would fit no column.
TOKENS_LIMIT = 1_000_000_000
# What a model thinks aloud is not its answer.
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class Unreadable(ValueError):
    """Not a reply of this format; the message names what is missing or odd."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The one text of a reply, or why there is none; either way it has been paid for."""

    text: str = ""
    trouble: str | None = None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a reply says that it took."""

    tokens_in: int
    tokens_out: int


def build_headers(endpoint: Endpoint) -> dict[str, str]:
    # Not compressed: what is counted on arrival is then all there is to read.
    plain = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "checkrail",
    }
    if endpoint.format == "anthropic":
        plain["anthropic-version"] = "2023-06-01"
    if endpoint.key is None:
        return plain
    if endpoint.format == "anthropic":
        return {**plain, "x-api-key": endpoint.key}
    return {**plain, "authorization": f"Bearer {endpoint.key}"}


def build_body(endpoint: Endpoint, question: Question) -> dict[str, Any]:
    asked = {"role": "user", "content": question.user}
    schema = dict(question.schema)
    if endpoint.format == "anthropic":
        return {
            "model": endpoint.model,
            "max_tokens": question.max_tokens,
            "system": question.system,
            "messages": [asked],
            "output_config": {"format": {"type": "json_schema", "schema": schema}},
        }
    named = {"name": question.name, "strict": True, "schema": schema}
    return {
        "model": endpoint.model,
        "max_completion_tokens": question.max_tokens,
        "messages": [{"role": "system", "content": question.system}, asked],
        "response_format": {"type": "json_schema", "json_schema": named},
    }


def read_usage(endpoint: Endpoint, document: Mapping[str, Any]) -> Usage:
    """Read by itself: a reply is paid for also where the rest of it cannot be read."""
    usage = _get_field(document, "usage", dict)
    if endpoint.format == "openai":
        return Usage(
            tokens_in=_count(usage, "prompt_tokens"),
            tokens_out=_count(usage, "completion_tokens"),
        )
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        tokens_in=_count(usage, "input_tokens")
        + sum(_count(usage, name) for name in cached if usage.get(name) is not None),
        tokens_out=_count(usage, "output_tokens"),
    )


def read(endpoint: Endpoint, document: Mapping[str, Any]) -> Said:
    """What the model said, or Unreadable."""
    return (_parse_anthropic if endpoint.format == "anthropic" else _parse_openai)(
        document
    )


def _parse_openai(document: Mapping[str, Any]) -> Said:
    choices = _get_field(document, "choices", list)
    if len(choices) != 1 or not isinstance(choices[0], dict):
        raise Unreadable("the reply does not hold exactly one choice")
    model = _get_field(document, "model", str)
    message = _get_field(choices[0], "message", dict)
    finish = _get_field(choices[0], "finish_reason", str)
    if message.get("refusal") or finish == "content_filter":
        return Said(trouble=REFUSED, model=model)
    if finish == "length":
        return Said(trouble=CUT_OFF, model=model)
    if finish != "stop" or message.get("tool_calls") or message.get("function_call"):
        return Said(trouble="the model did not finish with an answer", model=model)
    return Said(text=_get_field(message, "content", str), model=model)


def _parse_anthropic(document: Mapping[str, Any]) -> Said:
    blocks = _get_field(document, "content", list)
    model = _get_field(document, "model", str)
    stop = _get_field(document, "stop_reason", str)
    if stop == "refusal":
        return Said(trouble=REFUSED, model=model)
    if stop in {"max_tokens", "model_context_window_exceeded"}:
        return Said(trouble=CUT_OFF, model=model)
    if not all(isinstance(block, dict) for block in blocks):
        raise Unreadable("the reply's content is not a list of blocks")
    said = [block for block in blocks if block.get("type") not in _THOUGHTS]
    if stop != "end_turn" or [block.get("type") for block in said] != ["text"]:
        return Said(trouble="the model did not finish with an answer", model=model)
    return Said(text=_get_field(said[0], "text", str), model=model)


def _get_field(document: Mapping[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if not isinstance(value, kind):
        raise Unreadable(f"the reply has no {name}")
    return value


def _count(usage: Mapping[str, Any], name: str) -> int:
    value: int = _get_field(usage, name, int)
    if isinstance(value, bool) or not 0 <= value <= TOKENS_LIMIT:
        raise Unreadable(f"the reply has no {name} that can be believed")
    return value
