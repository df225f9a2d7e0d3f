"""Drive flows from blocking and asynchronous frameworks, with either kind of run."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from checkrail.flows.run_core import RunCore
from checkrail.transport.driver import Driver
from checkrail.transport.effects import Flow

T = TypeVar("T")


def drive_now(run: RunCore, flow: Flow[T]) -> T:
    """In the caller's own thread."""
    driver = run.driver
    if not isinstance(driver, Driver):
        raise TypeError(
            "An asynchronous run cannot be waited for here: use a run of Checkrail(), "
            "or the asynchronous way of the framework (ainvoke, adrive …)."
        )
    return driver.drive(flow)


async def drive_async(run: RunCore, flow: Flow[T]) -> T:
    """Without holding up the event loop: a blocking run is asked in a thread."""
    driver = run.driver
    if isinstance(driver, Driver):
        return await asyncio.to_thread(driver.drive, flow)
    outcome: T = await driver.drive(flow)
    return outcome
