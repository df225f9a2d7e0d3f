"""How often open pages are told while much happens."""

from __future__ import annotations

from functools import partial

import pytest

from console.live import broadcaster as broadcasting
from console.live.broadcaster import Broadcaster
from tests.console.live.stage import ONE, TWO, Page, World, has_reached, settle, until

pytestmark = pytest.mark.once("uses no database")


@pytest.mark.parametrize("changes", [0, 1])
async def test_while_much_happens_to_reviews_it_is_told_less_often(
    here: Broadcaster, world: World, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    for name in ("REST_SECONDS_PER_CHANGE", "LONGEST_REST_SECONDS"):
        monkeypatch.setattr(broadcasting, name, 3600.0)
    page = Page()
    here.join(page)
    await settle(here)

    def go_on() -> None:
        """Something more is committed while this is rendered."""
        world.meanwhile = lambda: None
        here.nudge([ONE])

    world.changes, world.meanwhile = changes, go_on
    world.positions[ONE] = 1
    here.nudge([ONE])
    await until(partial(has_reached, page, 1))
    world.positions[ONE] = 2
    here.nudge([ONE])
    if changes:
        other = Page(project=TWO)
        here.join(other)
        for position in range(1, 6):
            await until(lambda: TWO not in here._flushes)
            world.positions[TWO] = position
            here.nudge([TWO])
            await until(partial(has_reached, other, position))
        assert page.got == ["0 to 1"], "others have heard five times meanwhile"
    else:
        await until(partial(has_reached, page, 2))


async def test_after_a_slow_rendering_the_next_one_waits_for_a_while_at_most(
    here: Broadcaster, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasting, "REST_FACTOR", 1e9)
    monkeypatch.setattr(broadcasting, "LONGEST_REST_SECONDS", 0.05)
    page = Page()
    here.join(page)
    await settle(here)

    def go_on() -> None:
        world.meanwhile = lambda: None
        here.nudge([ONE])

    world.meanwhile = go_on
    for position in (1, 2):
        world.positions[ONE] = position
        here.nudge([ONE])
        await until(partial(has_reached, page, position))
