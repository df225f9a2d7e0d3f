"""The modules of a page's script, which in a bundle nothing outside of it can reach."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

BUNDLES = "**/static/bundles/*.js"


def expose_modules(page: Page) -> None:
    """The same page again, with its own modules in `window.modules`, as in `$js_toast`."""
    page.route(BUNDLES, _expose)
    page.reload()
    page.unroute(BUNDLES)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")


def _expose(route: Route) -> None:
    text = route.fetch().text()
    inside = text.removesuffix("}\n")
    names = ", ".join(re.findall(r"^const (\$\w+) = \(", text, re.MULTILINE))
    body = f"{inside}window.modules = {{ {names} }};\n}}\n"
    route.fulfill(content_type="text/javascript", body=body)
