"""Reading a run's events as they come, and knowing who is parked where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from gateway.streams import feeds
from ledger.models import Run
from ledger.waiting.hub import count_waiting
from tests.support.waiting import until

Block = dict[str, str]
CLOSED: Block = {"": "closed"}


class Listening:
    """An open stream, read block by block."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = _lines(response)

    def block(self) -> Block:
        """The next block of lines; a comment stands under the empty name."""
        found: Block = {}
        for line in self._lines:
            if not line and found:
                return found
            name, _, value = line.partition(": ")
            found[name] = value
        return CLOSED

    def entry(self) -> dict[str, Any]:
        """The next entry, after what is common to all of them was looked at."""
        block = self.block()
        assert list(block) == ["id", "event", "data"], block
        entry: dict[str, Any] = json.loads(block["data"])
        assert block["id"] == str(entry["seq"])
        assert block["event"] == entry["type"]
        return entry

    @property
    def closed(self) -> bool:
        """Whether it ends here, in good order and without another word."""
        return self.block() == CLOSED

    def entries(self, count: int) -> list[dict[str, Any]]:
        return [self.entry() for _ in range(count)]


def _lines(response: httpx.Response) -> Iterator[str]:
    """As the specification cuts them; httpx would end a line at U+2028, too."""
    rest = ""
    for text in response.iter_text():
        *lines, rest = (rest + text).split("\n")
        yield from lines


@contextmanager
def listen(
    client: httpx.Client, run: str, query: str = "", *, last: int | None = None
) -> Iterator[Listening]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    with client.stream("GET", f"/runs/{run}/events{query}", headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        listening = Listening(answer)
        assert listening.block() == {"retry": "2000"}
        yield listening


def ledger(client: httpx.Client, run: str) -> list[dict[str, Any]]:
    text = client.get(f"/runs/{run}/ledger").text
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def count_parked(run: str) -> int:
    """How many followers of this run wait in this process, having read its head."""
    run_id = Run.objects.values_list("pk", flat=True).get(code=run)
    here = [each.open.get(run_id) for each in feeds._feeds.list_all()]
    return sum(len(feed.waiting) for feed in here if feed and count_waiting(run_id))


def until_parked(run: str, count: int = 1) -> None:
    until(lambda: count_parked(run) == count)
