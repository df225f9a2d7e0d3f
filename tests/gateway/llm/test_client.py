"""Asking: what goes over the wire, and what comes back."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.test.utils import override_settings

from gateway.llm.client import OFF, REPLY_LIMIT, ask
from gateway.llm.endpoint import Endpoint
from gateway.llm.questions import LlmTrouble, Question, Spent
from gateway.llm.wire import build_body
from tests.gateway.llm.models import (
    FORMATS,
    KEY,
    PRICES,
    cut_off,
    envelope,
    http,
    model,
    refusal,
    says,
)
from tests.support.rows import each_row

QUESTION = Question(
    system="Answer in one word.",
    user="Which colour has the sky?",
    schema={
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
    name="one_word",
    max_tokens=100,
)
BLUE = '{"word": "blue"}'
# 100 tokens at 2.50 and 7 at 10 dollars a million.
TOLD = Spent(tokens_in=100, tokens_out=7, cost_micros=320)

pytestmark = pytest.mark.parametrize("wire", FORMATS)


def most(wire: str, *, requests: int = 1) -> Spent:
    """A token has a byte at least, and no answer more tokens than it may have."""
    chosen = Endpoint(
        url="", format=wire, model="stand-in", key=None, timeout_s=5, prices=PRICES
    )
    size = len(json.dumps(build_body(chosen, QUESTION)).encode()) * requests
    answer = QUESTION.max_tokens * requests
    cost = chosen.compute_cost(size, answer)
    return Spent(tokens_in=size, tokens_out=answer, cost_micros=cost)


async def trouble(question: Question = QUESTION) -> LlmTrouble:
    with pytest.raises(LlmTrouble) as caught:
        await ask(question)
    return caught.value


async def test_an_answer_is_a_document_with_what_it_cost(wire: str) -> None:
    async with model(wire, says(wire, BLUE)):
        reply = await ask(QUESTION)

    assert reply.document == {"word": "blue"}
    assert reply.spent == TOLD
    assert reply.model == "stand-in-1"
    assert 0 < reply.duration_s < 5


async def test_without_prices_the_cost_is_not_known(wire: str) -> None:
    async with model(wire, says(wire, BLUE), prices=None):
        assert (await ask(QUESTION)).spent.cost_micros is None


async def test_costs_are_rounded_up(wire: str) -> None:
    async with model(wire, says(wire, BLUE), prices=(1, 0)):
        assert (await ask(QUESTION)).spent.cost_micros == 1


async def test_the_request_is_that_of_its_format(wire: str) -> None:
    async with model(wire, says(wire, BLUE)) as stand_in:
        await ask(QUESTION)
    (asked,) = stand_in.asked

    assert asked.path == "/ask?version=1"
    assert asked.headers["accept-encoding"] == "identity"
    user = {"role": "user", "content": QUESTION.user}
    if wire == "anthropic":
        assert asked.headers["x-api-key"] == KEY
        assert asked.headers["anthropic-version"] == "2023-06-01"
        assert "authorization" not in asked.headers
        assert asked.body == {
            "model": "stand-in",
            "max_tokens": 100,
            "system": QUESTION.system,
            "messages": [user],
            "output_config": {
                "format": {"type": "json_schema", "schema": QUESTION.schema}
            },
        }
    else:
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert "x-api-key" not in asked.headers
        assert asked.body == {
            "model": "stand-in",
            "max_completion_tokens": 100,
            "messages": [{"role": "system", "content": QUESTION.system}, user],
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "one_word",
                    "strict": True,
                    "schema": QUESTION.schema,
                },
            },
        }


async def test_a_model_without_a_key_is_sent_none(wire: str) -> None:
    async with model(wire, says(wire, BLUE), key=None) as stand_in:
        await ask(QUESTION)

    assert not {"x-api-key", "authorization"} & stand_in.asked[0].headers.keys()


async def test_off_by_default(wire: str) -> None:
    with override_settings(LLM=None):
        assert (await trouble()).reason == OFF


@each_row(
    ("text", "reason"),
    [
        ("", "the answer cannot be read: the arguments are empty"),
        ("blue", "the answer cannot be read: not JSON"),
        ('{"word": "bl', "the answer cannot be read: the text breaks off"),
        (f"Here it is: {BLUE}", "the answer cannot be read: not JSON"),
        (f"{BLUE} I hope this helps.", "the answer cannot be read: not JSON"),
        (f"```json\n{BLUE}\n```", "the answer cannot be read: not JSON"),
        ('{"word": "blue", "word": "red"}', "a key stands twice"),
        ('{"word": NaN}', "NaN and infinity are not JSON"),
        ('{"word": "\\ud800"}', "half of a surrogate pair"),
        (f"[{BLUE}]", "the arguments must be one object"),
        ("null", "the answer has another form, at /"),
        ("{}", "the answer has another form, at /"),
        ('{"word": 7}', "the answer has another form, at /word"),
        ('{"word": "blue", "more": 1}', "the answer has another form, at /"),
    ],
)
async def test_an_answer_of_another_form_is_trouble_that_was_paid_for(
    wire: str, text: str, reason: str
) -> None:
    async with model(wire, says(wire, text)):
        error = await trouble()

    assert reason in error.reason
    assert error.spent is not None
    assert error.spent.tokens_out == 7


async def test_a_refusal_and_a_cut_are_told_apart(wire: str) -> None:
    async with model(wire, http(refusal(wire)), http(cut_off(wire, BLUE))):
        assert (await trouble()).reason == "the model refused to answer"
        assert "cut off" in (await trouble()).reason


UNFINISHED: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"finish_reason": "tool_calls"},
        {"finish_reason": "other"},
        {"message": {"tool_calls": [{"id": "1", "type": "function"}]}},
        {"message": {"function_call": {"name": "x", "arguments": BLUE}}},
    ],
    "anthropic": [
        {"stop_reason": "tool_use"},
        {"stop_reason": "pause_turn"},
        {"content": []},
        {"content": [{"type": "text", "text": BLUE}] * 2},
        {"content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]},
        {"content": [{"type": "text", "text": BLUE}, {"type": "tool_use"}]},
    ],
}


async def test_only_a_finished_answer_counts(
    wire: str, subtests: pytest.Subtests
) -> None:
    for changes in UNFINISHED[wire]:
        with subtests.test(changes=changes):
            async with model(wire, http(envelope(wire, BLUE, **changes))):
                error = await trouble()
            assert error.reason == "the model did not finish with an answer"


async def test_a_filtered_answer_is_refused(wire: str) -> None:
    changes = (
        {"stop_reason": "refusal"}
        if wire == "anthropic"
        else {"finish_reason": "content_filter"}
    )
    async with model(wire, http(envelope(wire, BLUE, **changes))):
        assert (await trouble()).reason == "the model refused to answer"


BROKEN: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"choices": []},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": {"content": BLUE}}]},
        {"message": {"content": None}},
        {"message": {"content": [{"type": "text", "text": BLUE}]}},
        {"usage": None},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 1}},
        {"usage": {"prompt_tokens": True, "completion_tokens": 1}},
        {"usage": {"prompt_tokens": 10**18, "completion_tokens": 1}},
        {"model": None},
    ],
    "anthropic": [
        {"content": None},
        {"content": ["x"]},
        {"content": [{"type": "text"}]},
        {"stop_reason": None},
        {"usage": {}},
        {"usage": {"input_tokens": 1.5, "output_tokens": 1}},
        {"model": 7},
    ],
}


async def test_a_reply_with_something_missing_is_not_guessed_at(
    wire: str, subtests: pytest.Subtests
) -> None:
    for changes in BROKEN[wire]:
        with subtests.test(changes=changes):
            async with model(wire, http(envelope(wire, BLUE, **changes))):
                error = await trouble()
            assert error.reason.startswith("the reply")
            assert error.spent == (most(wire) if "usage" in changes else TOLD)


async def test_what_is_no_reply_is_trouble(
    wire: str, subtests: pytest.Subtests
) -> None:
    good = json.dumps(envelope(wire, BLUE)).encode()
    long = json.dumps(envelope(wire, BLUE, pad="x" * 1_000_000)).encode()
    cases = [
        ("is not application/json", http(good, kind="text/html")),
        ("is not application/json", http(good, kind="application/jsonl")),
        ("is compressed", http(gzip.compress(good), content_encoding="gzip")),
        (f"is longer than {REPLY_LIMIT:,} bytes", http(long)),
        ("cannot be read: not JSON", http(b"<html>")),
        ("cannot be read: a text holds half", http(good.replace(b"stand", b"\xff"))),
        ("cannot be read: a key stands twice", http(good[:-1] + b', "model": "y"}')),
        ("cannot be read: the arguments must be one", http(b"[" + good + b"]")),
        ("cannot be read: the arguments are empty", http(b"")),
    ]
    for words, behaviour in cases:
        with subtests.test(words):
            async with model(wire, behaviour):
                error = await trouble()
            assert f"the reply {words}" in error.reason
            assert error.spent == most(wire)


async def test_a_reply_of_exactly_the_limit_is_read(wire: str) -> None:
    good = json.dumps(envelope(wire, BLUE)).encode()
    kind = "application/json; charset=utf-8"
    async with model(wire, http(good.ljust(REPLY_LIMIT), kind=kind)):
        assert (await ask(QUESTION)).document == {"word": "blue"}
    async with model(wire, http(good.ljust(REPLY_LIMIT + 1))):
        assert "longer" in (await trouble()).reason


@each_row("status", [400, 404, 418])
async def test_a_refused_request_says_why_in_few_words(wire: str, status: int) -> None:
    said = {"error": {"type": "invalid", "message": "No such model.\n" + "x" * 999}}
    async with model(wire, http(said, status=status)) as stand_in:
        error = await trouble()

    assert error.reason.startswith(f"the server answered {status}: No such model. x")
    assert len(error.reason) < 250
    assert len(stand_in.asked) == 1


@each_row("said", [b"", b"<html>", b'{"error": "no"}', b"x" * 99_999])
async def test_a_complaint_that_cannot_be_read_is_left_out(
    wire: str, said: bytes
) -> None:
    async with model(wire, http(said, status=400)):
        assert (await trouble()).reason == "the server answered 400"


@each_row("status", [401, 403])
async def test_a_refused_key_is_not_tried_again(wire: str, status: int) -> None:
    async with model(wire, http(b"{}", status=status)) as stand_in:
        error = await trouble()

    assert error.reason == f"the server answered {status}: it refuses the key"
    assert error.spent == most(wire)
    assert len(stand_in.asked) == 1


async def test_no_redirect_is_followed(wire: str) -> None:
    async with (
        model(wire, says(wire, BLUE)) as elsewhere,
        model(wire, http(status=307, location="/elsewhere")) as stand_in,
    ):
        error = await trouble()

    assert error.reason == "the server answered 307: redirects are refused"
    assert len(stand_in.asked) == 1
    assert elsewhere.asked == []
