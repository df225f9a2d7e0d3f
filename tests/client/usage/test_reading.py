"""What model libraries say of a request, read as tokens by kind: with their own types where
they are installed, and with the JSON that their servers send."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from agents.usage import Usage as AgentsUsage
from checkrail import Usage
from checkrail.flows.usage import read_usage
from langchain_core.messages import AIMessage
from openai.types import CompletionUsage
from openai.types.responses import ResponseUsage

from tests.support.rows import each_row

CHAT = {
    "prompt_tokens": 1_000,
    "completion_tokens": 200,
    "total_tokens": 1_200,
    "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 150},
}
RESPONSE = {
    "input_tokens": 1_000,
    "output_tokens": 200,
    "total_tokens": 1_200,
    "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
    "output_tokens_details": {"reasoning_tokens": 150},
}
ANTHROPIC = {
    "input_tokens": 300,
    "output_tokens": 200,
    "cache_read_input_tokens": 600,
    "cache_creation_input_tokens": 100,
    "cache_creation": {
        "ephemeral_5m_input_tokens": 100,
        "ephemeral_1h_input_tokens": 0,
    },
    "server_tool_use": None,
    "service_tier": "standard",
}
LANGCHAIN: Any = {
    "input_tokens": 1_000,
    "output_tokens": 200,
    "total_tokens": 1_200,
    "input_token_details": {"cache_read": 600, "cache_creation": 100},
    "output_token_details": {"reasoning": 150},
}
# What langchain-anthropic tells where it knows how long a cache lives.
BY_TIME: Any = {
    **LANGCHAIN,
    "input_token_details": {
        "cache_read": 600,
        "cache_creation": 0,
        "ephemeral_5m_input_tokens": 60,
        "ephemeral_1h_input_tokens": 40,
    },
}
GEMINI = {
    "prompt_token_count": 900,
    "cached_content_token_count": 600,
    "candidates_token_count": 50,
    "thoughts_token_count": 150,
}
SAME = Usage(
    input_tokens=300,
    cached_input_tokens=600,
    cache_write_tokens=100,
    output_tokens=200,
)
AGENTS = AgentsUsage(
    requests=1,
    input_tokens=1_000,
    output_tokens=200,
    total_tokens=1_200,
    input_tokens_details=ResponseUsage.model_validate(RESPONSE).input_tokens_details,
)


SOURCES: dict[str, Any] = {
    "chat completions, as JSON": CHAT,
    "chat completions": CompletionUsage.model_validate(CHAT),
    "responses, as JSON": RESPONSE,
    "responses": ResponseUsage.model_validate(RESPONSE),
    "the Agents SDK": AGENTS,
    "Anthropic, as JSON": ANTHROPIC,
    "Anthropic": SimpleNamespace(**ANTHROPIC),
    "LangChain": AIMessage(content="", usage_metadata=LANGCHAIN),
    "LangChain's usage": LANGCHAIN,
    "LangChain by the time of a cache": BY_TIME,
    "ours": SAME,
}


@each_row("name", SOURCES)
def test_the_same_request_is_the_same_usage(name: str) -> None:
    assert read_usage(SOURCES[name]) == (SAME,)


def test_the_thoughts_of_gemini_are_answers_too() -> None:
    assert read_usage(GEMINI) == (
        Usage(input_tokens=300, cached_input_tokens=600, output_tokens=200),
    )


def test_a_whole_response_names_its_model() -> None:
    message = AIMessage(
        content="",
        usage_metadata=LANGCHAIN,
        response_metadata={"model_name": "some-model"},
    )
    responses = (
        {"model": "some-model", "usage": CHAT},
        SimpleNamespace(model="some-model", usage=SimpleNamespace(**ANTHROPIC)),
        message,
    )
    named = [usage.model for source in responses for usage in read_usage(source)]
    assert named == ["some-model"] * 3


def test_several_requests_of_one_step_stay_apart() -> None:
    read = read_usage([CHAT, {"model": "other", "usage": ANTHROPIC}])
    assert [usage.model for usage in read] == ["", "other"]
    assert sum(usage.tokens for usage in read) == 2_400


def test_what_is_left_out_or_null_is_none() -> None:
    plain = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": None}
    assert read_usage(plain) == (Usage(input_tokens=5, output_tokens=7),)
    bare = {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": None}
    assert read_usage(bare) == (Usage(input_tokens=5, output_tokens=7),)


@pytest.mark.parametrize(
    "odd",
    [
        "1200",
        {"tokens": 7},
        object(),
        AIMessage(content="no usage"),
        {"input_tokens": True},
        {"input_tokens": -1},
        {"input_tokens": 1.5},
        {"prompt_tokens": "7"},
    ],
)
def test_what_is_no_usage_is_refused_and_never_counted_as_nothing(odd: Any) -> None:
    with pytest.raises(TypeError):
        read_usage(odd)
