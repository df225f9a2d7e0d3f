"""Four cards on the first visit, once; and words that lead to their meaning."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from accounts.models import Project
from console.introduction.terms import TERMS, find_term
from console.models import Preferences
from tests.runner.database import ROOT
from tests.support.browsing import open_browser
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("forms and pages, not SQL")


def test_the_cards_are_shown_until_they_were_read(
    project: Project, bob: Person
) -> None:
    Preferences.objects.filter(user=bob.user).delete()
    browser, path = open_browser(bob.user), f"/p/{project.slug}/queue/"
    assert browser.get(path).content.decode().count("<h3>Agents work") == 1
    ended = browser.post(f"/p/{project.slug}/introduction/end/")
    assert ended.status_code == 204
    assert "<h3>Agents work" not in browser.get(path).content.decode()


def test_a_measure_leads_to_what_it_means(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    browser = open_browser(bob.user)
    page = browser.get(f"/p/{project.slug}/queue/{review}/").content.decode()
    (anchor,) = set(re.findall(r"/glossary/#(rework)\"", page))
    glossary = browser.get(f"/p/{project.slug}/glossary/").content.decode()
    assert f'id="{anchor}"' in glossary
    assert TERMS["rework"] in glossary


def test_the_longest_word_is_meant_and_parts_of_words_are_not() -> None:
    assert find_term("The continue gate")[0] == "continue gate"  # type: ignore[index]
    assert find_term("Prework") is None


def test_every_term_is_in_the_glossary_of_the_documentation() -> None:
    words = Path(ROOT, "docs/glossary.md").read_text().lower()
    assert [term for term in TERMS if term not in words] == []
