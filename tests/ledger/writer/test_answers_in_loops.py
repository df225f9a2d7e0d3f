"""Answers that are handed to event loops: none keeps another from being given."""

from __future__ import annotations

import asyncio

import pytest

from ledger.writer import Writer
from tests.ledger.writer.fakes import FakeCommitter, PlainRequest

WAIT_S = 20


async def test_an_answer_that_cannot_be_given_keeps_none_from_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(_answer: object, _error: BaseException | None) -> None:
        raise LookupError("broken on purpose")

    writer, committer = Writer(), FakeCommitter()
    writer._committer = committer  # type: ignore[assignment]
    first = asyncio.ensure_future(writer.perform(PlainRequest(agent="first")))
    await asyncio.to_thread(committer.entered.wait, WAIT_S)
    writer.submit(PlainRequest(agent="broken"), fail)
    other = asyncio.ensure_future(writer.perform(PlainRequest(agent="other")))
    await asyncio.sleep(0)

    committer.open.set()

    async with asyncio.timeout(WAIT_S):
        await asyncio.gather(first, other)
    writer.close()
    assert "broken on purpose" in caplog.text
