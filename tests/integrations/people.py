"""A person who rules as soon as an agent waits: no thread, no sleeping."""

from __future__ import annotations

from typing import Any

import httpx
from checkrail import ReviewRef

from tests.support.people import rule


class Reviewer:
    """Told `on_wait`, gives the next of its rulings; what is ruled on stays as it is."""

    def __init__(self, client: httpx.Client, *rulings: dict[str, Any]) -> None:
        self.client = client
        self.rulings = list(rulings)
        self.asked: list[dict[str, Any]] = []

    def __call__(self, review: ReviewRef) -> None:
        shown = self.client.get(f"/reviews/{review.id}").json()
        if shown["state"] != "open":
            return
        self.asked.append(shown)
        rule(self.client, review.id, **self.rulings.pop(0))


def approve(**more: Any) -> dict[str, Any]:
    return {"action": "approve", **more}


def amend(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"action": "amend", "amended": {"arguments": arguments}}


def deny(note: str) -> dict[str, Any]:
    return {"action": "deny", "note": note}


def answer(text: str) -> dict[str, Any]:
    return {"action": "answer", "answer": text}
