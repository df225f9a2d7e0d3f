"""Since when each part has been as it is, watched by every web process."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

from django.utils import timezone

from config.health.parts import Part, State, check_parts

LOOK_SECONDS = 5.0
Known = dict[str, tuple[Part, datetime]]

logger = logging.getLogger(__name__)


class Watch:
    """The parts at the last look, and when each came to be so."""

    def __init__(self) -> None:
        self._known: Known = {}
        self._logged: dict[str, State] = {}

    async def look(self) -> Known:
        now = timezone.now()
        self._known = {
            name: (part, part.since or self._get_since(name, part, now))
            for name, part in (await check_parts()).items()
        }
        return self._known

    def _get_since(self, name: str, part: Part, now: datetime) -> datetime:
        before, since = self._known.get(name, (part, now))
        return since if before.state == part.state else now

    async def run_forever(self) -> None:
        before: Known = {}
        while True:
            try:
                known = await self.look()
                self._write_lines(before, known)
                before = known
            except Exception:
                logger.exception("The parts could not be looked at, trying again")
            await asyncio.sleep(LOOK_SECONDS)

    def _write_lines(self, before: Known, known: Known) -> None:
        """Log what is so at two looks: when a process starts, others are only about to."""
        for name, (part, _) in known.items():
            last = self._logged.get(name, State.OK)
            if (
                name not in before
                or before[name][0].state != part.state
                or (part.state == last)
            ):
                continue
            self._logged[name] = part.state
            reason = f": {part.reason}" if part.reason else " again"
            logger.warning("The %s is %s%s", name, part.state, reason)


def get_overall_state(known: Known) -> State:
    """Down without the database alone: agents and people need no other part."""
    if known["database"][0].state == State.DOWN:
        return State.DOWN
    well = all(part.state == State.OK for part, _ in known.values())
    return State.OK if well else State.DEGRADED


watch = Watch()
