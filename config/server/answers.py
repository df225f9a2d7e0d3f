"""The number of answers that this process has sent, by status."""

from __future__ import annotations

from collections import Counter
from functools import partial

from config.fastpath.asgi import Message, Send

sent_answers: Counter[int] = Counter()


def count_answers(send: Send) -> Send:
    return partial(_send, send)


async def _send(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        sent_answers[message["status"]] += 1
    await send(message)
