"""Pages and a database without either, for tests of the broadcaster alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from console.live.broadcaster import Broadcaster
from console.live.updates import Update, View

ONE, TWO = 1, 2


@dataclass(eq=False)
class Page:
    """A listener; `gate` holds up what is sent to it while it is closed."""

    project: int = ONE
    since: int = 0
    access: Any = "session"
    sending: bool = False
    error: Exception | None = None
    got: list[str] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.view = View(project_id=self.project, name="queue")
        self.gate.set()

    async def push(self, text: str) -> None:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.got.append(text)

    async def end(self, code: int) -> None:
        self.ended.append(code)


class World:
    """Where each project stands, and what was asked of the database."""

    def __init__(self) -> None:
        self.positions = {ONE: 0, TWO: 0}
        self.wanted: list[set[tuple[int, int]]] = []
        self.refused: dict[Any, int] = {}
        self.trouble: list[Exception] = []
        self.looks = 0
        self.changes = 0
        self.meanwhile: Callable[[], None] = lambda: None

    async def ask(self, work: Callable[[], Any]) -> Any:
        if self.trouble:
            raise self.trouble.pop(0)
        return work()

    def build(self, wanted: Iterable[tuple[View, int]]) -> dict[Any, Update]:
        asked = list(wanted)
        self.meanwhile()
        self.wanted.append({(view.project_id, since) for view, since in asked})
        return {
            (view, since): Update(
                position=self.positions[view.project_id],
                text=f"{since} to {self.positions[view.project_id]}",
                changes=self.changes,
            )
            for view, since in asked
            if since != self.positions[view.project_id]
        }

    def list_positions(self, projects: list[int]) -> list[tuple[int, int]]:
        self.looks += 1
        return [(project, self.positions[project]) for project in projects]

    def list_refused(self, sessions: set[Any]) -> dict[Any, int]:
        return {each: code for each, code in self.refused.items() if each in sessions}


async def until(check: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not check():
            await asyncio.sleep(0.002)


def has_reached(page: Page, position: int) -> bool:
    return page.since == position


async def settle(here: Broadcaster) -> None:
    """Nothing is on its way any more: all that is left are its three watches."""

    def is_settled() -> bool:
        left = [each.get_coro() for each in here._tasks if not each.done()]
        return all("_run_forever" in str(each) for each in left)

    await until(is_settled)
