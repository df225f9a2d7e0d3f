"""The key is sent to the model's server, and stands nowhere else."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any

import pytest

from gateway.llm.client import ask
from gateway.llm.questions import LlmTrouble
from tests.gateway.llm.models import (
    FORMATS,
    KEY,
    Asked,
    breaks_off,
    envelope,
    hangs,
    hangs_up,
    http,
    model,
    refusal,
    says,
)
from tests.gateway.llm.test_client import BLUE, QUESTION

LEAK = {"error": {"message": f"Wrong key {KEY}, or password=hunter2hunter2."}}


async def swears(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Not even HTTP, and it repeats the key."""
    writer.write(f"{KEY}\r\n{KEY}: x\r\n\r\n".encode())
    await writer.drain()


def behaviours(wire: str) -> dict[str, Any]:
    return {
        "401": http(LEAK, status=401),
        "400": http(LEAK, status=400),
        "500": http(LEAK, status=500),
        "redirect": http(status=302, location=f"https://{KEY}.example/{KEY}"),
        "kind": http(KEY.encode(), kind=KEY),
        "not json": http(KEY.encode()),
        "field": says(wire, f'{{"word": "x", "{KEY}": 1}}'),
        "value": says(wire, f'{{"word": ["{KEY}"]}}'),
        "prose": says(wire, f"{KEY} {BLUE}"),
        "refusal": http(refusal(wire)),
        "finish": http(envelope(wire, BLUE, usage=KEY)),
        "hangs": hangs,
        "hangs up": hangs_up,
        "breaks off": breaks_off,
        "swears": swears,
    }


@pytest.mark.parametrize("wire", FORMATS)
async def test_no_reason_no_traceback_and_no_log_holds_the_key(
    wire: str, caplog: pytest.LogCaptureFixture, subtests: pytest.Subtests
) -> None:
    # As with CHECKRAIL_LOG_LEVEL=DEBUG.
    caplog.set_level(logging.DEBUG)
    for name, behaviour in behaviours(wire).items():
        with subtests.test(name):
            caplog.clear()
            timeout_s = 1.5 if name == "hangs" else 60
            async with model(wire, behaviour, timeout_s=timeout_s) as stand_in:
                with pytest.raises(LlmTrouble) as caught:
                    await ask(QUESTION)
            assert KEY in str(stand_in.asked[0].headers)
            error = caught.value
            # What a log or an error page could show: message, causes and frames.
            shown = "".join(traceback.format_exception(error))
            assert KEY not in shown + repr(error) + str(vars(error)) + caplog.text
            assert "hunter2" not in error.reason
            causes = (error.__cause__, error.__context__)
            assert not any(KEY in repr(cause) for cause in causes)
            assert not any(hasattr(cause, "request") for cause in causes)
            assert len(error.reason) < 300


async def test_the_name_a_model_gives_itself_is_bounded_and_redacted() -> None:
    named = envelope(
        "openai", BLUE, model=f"{KEY} password=hunter2hunter2 " + "x" * 999
    )
    async with model("openai", http(named)):
        reply = await ask(QUESTION)

    assert KEY not in reply.model
    assert "hunter2" not in reply.model
    assert len(reply.model) <= 200
