"""A test acts on a page once it has loaded: tests are quicker than people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from playwright.sync_api import Keyboard, Locator, Page

# What a test does right behind a link would meet a page whose scripts have not run yet.
ACTIONS = ("check", "click", "fill", "press", "select_option")


def wait_before_acting(patch: pytest.MonkeyPatch) -> None:
    """Before every action the page under it is loaded, scripts included.

    What happens to somebody who is faster than the scripts is shown by tests that hold
    a script back; they type with `press_sequentially`, which does not wait.
    """
    for name in ACTIONS:
        patch.setattr(Locator, name, _patient(getattr(Locator, name)))
    own: property = vars(Page)["keyboard"]

    def keyboard(page: Page) -> Keyboard:
        page.wait_for_load_state()
        return cast(Keyboard, own.__get__(page))

    patch.setattr(Page, "keyboard", property(keyboard))


def _patient(action: Callable[..., Any]) -> Callable[..., Any]:
    def act(locator: Locator, *arguments: Any, **options: Any) -> Any:
        locator.wait_for(state="attached", timeout=options.get("timeout"))
        locator.page.wait_for_load_state()
        return action(locator, *arguments, **options)

    return act
