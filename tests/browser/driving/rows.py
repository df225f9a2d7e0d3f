"""The rows of the queue's list, as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Page

from tests.support.waiting import until


def list_rows(page: Page) -> list[str]:
    """The codes of the reviews, from the top."""
    codes: list[str] = page.evaluate(
        "[...document.querySelectorAll('#queue li')].map(row => row.id.slice(7))"
    )
    return codes


def expect_rows(page: Page, codes: Sequence[str]) -> None:
    """These and no others, in this order, as soon as the page has taken in its updates."""
    until(lambda: list_rows(page) == list(codes))
