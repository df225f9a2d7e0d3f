"""One page in five looks: light, dark, narrow, at 200 % and on paper."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import CDPSession, Page

# A picture shows the whole page, up to this height.
TALLEST = 3200


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`paper`: as it is printed, from a browser in dark, which is the harder case."""

    name: str
    width: int
    height: int
    scale: int = 1
    scheme: Literal["light", "dark"] = "light"
    paper: bool = False


LOOKS = (
    Look(name="light", width=1440, height=900),
    Look(name="dark", width=1440, height=900, scheme="dark"),
    Look(name="narrow", width=390, height=844),
    # A window of 1280 pixels at 200 %.
    Look(name="zoom", width=640, height=450, scale=2),
    Look(name="print", width=720, height=1020, scheme="dark", paper=True),
)

# What lies below the edge of a pane that scrolls by itself.
HIDDEN_HEIGHT = """() => Math.max(0, ...[
    document.documentElement, ...document.querySelectorAll("main .scroll, main.scroll, .plain")
].map(pane => pane.scrollHeight - pane.clientHeight))"""
TOO_WIDE = """() => {
    const page = document.documentElement, panes = document.querySelectorAll("main > .scroll")
    return [page, ...panes].some(it => it.scrollWidth > it.clientWidth)
}"""


def take_pictures(
    page: Page, name: str, *, folder: Path, looks: Sequence[Look] = LOOKS
) -> Iterator[str]:
    """A file for each look; yields what is wrong with one of them."""
    session = page.context.new_cdp_session(page)
    for look in looks:
        page.emulate_media(
            media="print" if look.paper else "screen", color_scheme=look.scheme
        )
        _set_size(session, look, height=look.height)
        hidden: int = page.evaluate(HIDDEN_HEIGHT)
        if hidden:
            _set_size(session, look, height=min(look.height + hidden, TALLEST))
        if page.evaluate(TOO_WIDE):
            yield f"{name}: scrolls sideways in {look.name}"
        shot = session.send("Page.captureScreenshot", {"format": "png"})
        target = folder / look.name / f"{name}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b64decode(shot["data"]))
    session.send("Emulation.clearDeviceMetricsOverride")
    page.emulate_media(media="screen", color_scheme="light")
    session.detach()


def _set_size(session: CDPSession, look: Look, *, height: int) -> None:
    metrics = {
        "width": look.width,
        "height": height,
        "deviceScaleFactor": look.scale,
        "mobile": False,
    }
    session.send("Emulation.setDeviceMetricsOverride", metrics)
