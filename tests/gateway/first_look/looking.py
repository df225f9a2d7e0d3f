"""Stand-in models that look at calls, and agents that make them meanwhile."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import httpx

from tests.gateway.calls.calls import DANGEROUS
from tests.gateway.llm.models import Asked, Behaviour, replies

Answer = dict[str, Any]
_CALL = re.compile(r"call (\d) begins\n(.*)\n")


def list_shown(asked: Asked) -> dict[int, Any]:
    """The two calls that it was shown, by their numbers."""
    found = _CALL.findall(asked.user)
    return {int(number): json.loads(text) for number, text in found}


def find_own(asked: Asked, text: str = DANGEROUS) -> int:
    """The number of the agent's own call."""
    (number,) = [
        number
        for number, call in list_shown(asked).items()
        if call.get("command") == text
    ]
    return number


def write(*answers: Answer) -> str:
    return json.dumps({"answers": [*answers]})


def answers(
    wire: str,
    answer: str,
    *,
    control: str = "deny",
    reason: str = "It is made again.",
    text: str = DANGEROUS,
) -> Behaviour:
    """A model that says this of the agent's call, and `control` of the other one."""

    def reply(asked: Asked) -> str:
        own = find_own(asked, text)
        return write(
            {"index": own, "answer": answer, "reason": reason},
            {"index": 3 - own, "answer": control, "reason": "It destroys too much."},
        )

    return replies(wire, reply)


def builds(wire: str, build: Callable[[int], str]) -> Behaviour:
    """A model whose whole answer is made from the number of the agent's call."""
    return replies(wire, lambda asked: build(find_own(asked)))


async def call(
    agent: httpx.Client,
    run: str,
    text: str = DANGEROUS,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Answer:
    """In a thread: the model answers from this test's own loop."""
    body = {"kind": "command", "tool": "Bash", "command": text, **more}
    sent = await asyncio.to_thread(
        agent.post, f"/runs/{run}/tool-calls", json=body, headers=headers
    )
    assert sent.status_code == 201, sent.text
    judged: Answer = sent.json()
    return judged


def list_entries(client: httpx.Client, run: str, kind: str) -> list[Answer]:
    lines = client.get(f"/runs/{run}/ledger").text.splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry["payload"] for entry in entries if entry["type"] == kind]
