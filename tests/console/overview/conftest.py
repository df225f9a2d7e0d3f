"""The page as a person reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest

from accounts.models import Project
from ledger.statistics.counting import count_project
from tests.support.browsing import open_browser
from tests.support.builders import Person

Read = Callable[..., str]


@pytest.fixture
def read(project: Project) -> Read:
    """The page of a person, with everything counted that has happened."""

    def read_page(person: Person, **query: str) -> str:
        count_project(project_id=project.pk)
        page = open_browser(person.user).get(f"/p/{project.slug}/overview/", query)
        assert page.status_code == 200
        return page.content.decode()

    return read_page


def read_text(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def read_section(page: str, title: str) -> str:
    """The markup of the part that has this id as its title."""
    start = page.rindex("<section", 0, page.index(f'id="{title}"'))
    return page[start : page.index("</section>", start)]


def list_needs(page: str) -> list[str]:
    section = read_section(page, "needs-title")
    return [read_text(each) for each in re.findall(r"<li.*?</li>", section, re.S)]
