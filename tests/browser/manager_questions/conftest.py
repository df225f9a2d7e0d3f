"""One project and one signed-in page for all questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Desk
from tests.browser.manager_questions.house import House, Visit, open_house
from tests.support.live import Live


@pytest.fixture(scope="module")
def house(live: Live) -> Iterator[House]:
    with open_house(live) as opened:
        yield opened


@pytest.fixture(scope="module")
def office(browser: Browser, live: Live, spare: list[Page]) -> Iterator[Desk]:
    """One for all questions: what a browser complains of is seen after each of them."""
    opened = Desk(browser, live.url, spare)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(office: Desk, house: House) -> Page:
    return office.open(f"/p/{house.project.slug}/queue/", person=house.alice)


@pytest.fixture
def visit(page: Page, office: Desk) -> Iterator[Visit]:
    yield Visit(page)
    assert office.complaints == []
