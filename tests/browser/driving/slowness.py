"""A network with a delay, as Chromium itself simulates it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page


@contextmanager
def slow_network(page: Page, *, milliseconds: int) -> Iterator[None]:
    """Every HTTP answer to this page comes so much later."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": milliseconds,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        },
    )
    try:
        yield
    finally:
        session.detach()
