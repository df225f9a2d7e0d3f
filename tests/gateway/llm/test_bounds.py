"""The bounds of asking: repetitions, time, and questions under way at once."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from django.test.utils import override_settings

from gateway.llm.client import REPEAT_AFTER_S, ask
from tests.gateway.llm.models import (
    FORMATS,
    HANGING_SECONDS,
    PRICES,
    Asked,
    Behaviour,
    breaks_off,
    drips,
    hangs,
    hangs_up,
    http,
    model,
    says,
)
from tests.gateway.llm.test_client import BLUE, QUESTION, TOLD, most, trouble
from tests.support.rows import each_row

pytestmark = pytest.mark.parametrize("wire", FORMATS)
# Before whoever hangs would go on.
SOON = HANGING_SECONDS / 2

PASSING: dict[str, Behaviour] = {
    "busy": http(status=429),
    "busy for no time": http(status=429, retry_after="0"),
    "busy until a date": http(status=429, retry_after="Fri, 31 Dec 1999 23:59:59 GMT"),
    "fault": http(status=500),
    "overload": http(status=529),
    "hangs up": hangs_up,
    "breaks off": breaks_off,
}


@each_row("first", PASSING)
async def test_what_may_pass_is_tried_once_more(wire: str, first: str) -> None:
    async with model(wire, PASSING[first], says(wire, BLUE)) as stand_in:
        assert (await ask(QUESTION)).document == {"word": "blue"}

    assert len(stand_in.asked) == 2
    assert stand_in.asked[0].body == stand_in.asked[1].body


async def test_the_request_that_brought_nothing_is_paid_for_too(wire: str) -> None:
    lost = most(wire)
    async with model(wire, http(status=500), says(wire, BLUE)):
        spent = (await ask(QUESTION)).spent

    assert spent.tokens_in == lost.tokens_in + TOLD.tokens_in
    assert spent.tokens_out == lost.tokens_out + TOLD.tokens_out
    price_in, price_out = PRICES
    whole = spent.tokens_in * price_in + spent.tokens_out * price_out
    assert spent.cost_micros == -(-whole // 1_000_000)


@each_row(
    ("always", "reason"),
    [
        ("fault", "the server answered 500"),
        ("busy", "the server answered 429"),
        ("hangs up", "the connection failed: "),
        ("breaks off", "the connection failed: "),
    ],
)
async def test_never_more_than_twice(wire: str, always: str, reason: str) -> None:
    async with model(wire, PASSING[always]) as stand_in:
        error = await trouble()

    assert error.reason.startswith(reason)
    assert error.spent == most(wire, requests=2)
    assert len(stand_in.asked) == 2


async def test_it_is_not_tried_again_at_once(wire: str) -> None:
    real = REPEAT_AFTER_S
    async with model(wire, hangs_up, says(wire, BLUE), pause_s=real) as stand_in:
        started = time.monotonic()
        await ask(QUESTION)

    assert time.monotonic() - started >= real > 0.1
    assert len(stand_in.asked) == 2


async def test_a_pause_that_is_too_long_is_not_waited_for(wire: str) -> None:
    async with model(wire, http(status=429, retry_after="3600")) as stand_in:
        async with asyncio.timeout(SOON):
            error = await trouble()

    assert error.reason == "the server answered 429"
    assert len(stand_in.asked) == 1


@each_row("behaviour", [hangs, drips])
async def test_the_time_is_for_all_of_it(wire: str, behaviour: Behaviour) -> None:
    async with model(wire, behaviour, timeout_s=1.5) as stand_in:
        async with asyncio.timeout(SOON):
            error = await trouble()

    assert error.reason == "no answer within 1.5 s"
    assert error.spent == most(wire)
    assert len(stand_in.asked) == 1


async def test_nobody_there(wire: str) -> None:
    gone = {
        "url": "http://127.0.0.1:1/ask",
        "format": wire,
        "model": "x",
        "key": None,
        "timeout_s": 2,
        "prices": None,
    }
    with override_settings(LLM=gone):
        error = await trouble()
    assert error.reason.startswith("the connection failed: ")
    assert error.spent is None  # nobody was reached: nothing was asked


@contextmanager
def deaf_listener() -> Iterator[int]:
    """A port whose queue of connections is full: to connect takes for ever."""
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            queued = sockets.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


async def test_what_was_never_sent_costs_nothing(wire: str) -> None:
    with deaf_listener() as port:
        deaf = {
            "url": f"http://127.0.0.1:{port}/ask",
            "format": wire,
            "model": "x",
            "key": None,
            "timeout_s": 1.5,
            "prices": PRICES,
        }
        with override_settings(LLM=deaf):
            error = await trouble()
    assert error.reason == "no answer within 1.5 s"
    assert error.spent is None


async def test_what_is_never_answered_costs_the_most(wire: str) -> None:
    """It is connected by the system and sent, though nobody ever takes it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = {
            "url": f"http://127.0.0.1:{listener.getsockname()[1]}/ask",
            "format": wire,
            "model": "model-7",
            "key": None,
            "timeout_s": 5,
            "prices": PRICES,
        }
        with override_settings(LLM=silent):
            error = await trouble()
    assert error.spent is not None
    assert error.spent.tokens_out == QUESTION.max_tokens


async def test_four_at_once_and_the_rest_in_turn(wire: str) -> None:
    together, four = 0, asyncio.Event()

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal together
        together += 1
        if together == 4:
            four.set()
        await four.wait()
        await asyncio.sleep(0.1)  # a fifth would be here by then
        await says(wire, BLUE)(asked, writer)

    async with model(wire, slow) as stand_in:
        replies = await asyncio.gather(*(ask(QUESTION) for _ in range(10)))

    assert len(replies) == len(stand_in.asked) == 10
    assert stand_in.most_at_once == 4


async def test_who_gets_no_place_in_time_is_told_so(wire: str) -> None:
    async with model(wire, hangs, timeout_s=1.5):
        async with asyncio.timeout(SOON):
            ended = await asyncio.gather(
                *(ask(QUESTION) for _ in range(30)), return_exceptions=True
            )

    reasons = [str(error) for error in ended]
    assert reasons[:4] == ["no answer within 1.5 s"] * 4
    assert all("within 1.5 s" in reason for reason in reasons)
    assert any("4 questions are under way already" in reason for reason in reasons)
    async with model(wire, says(wire, BLUE)):
        assert (await ask(QUESTION)).document == {"word": "blue"}
