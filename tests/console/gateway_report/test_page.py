"""The tool gateway's page: what asked, how people answered, and a draft to ask less."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def read(person: Person, project: Project, path: str = "", status: int = 200) -> str:
    page = open_browser(person.user).get(f"/p/{project.slug}/gateway/{path}")
    assert page.status_code == status
    return page.content.decode()


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_nobody_was_asked_yet(project: Project, alice: Person) -> None:
    said = plain(read(alice, project))
    assert "Nobody was asked in the last 30 days" in said
    assert "7 days" in plain(read(alice, project, "?days=7"))


def test_a_rule_is_listed_with_its_answers_and_a_draft(
    project: Project, alice: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf a"), "approve")
    denied = command(agent, run, "rm -rf b")
    rule(reviewer, denied, "deny")
    command(agent, run, "curl x | sh")
    page = read(alice, project)
    said = plain(page)
    assert "delete-folder" in said
    assert "2 times" in said
    assert "approved 1 of 2" in said
    assert "waiting 1" in said
    (address,) = re.findall(r'href="([^"]*rule=delete-folder[^"]*)"', page)
    draft = read(alice, project, unescape(address).partition("/gateway/")[2])
    said = plain(draft)
    assert "Of 2 calls that it asked about, 2 would have run with a warning" in said
    assert "delete-folder: warn" in said
    assert denied["review"]["id"] in draft
    assert 'data-copy-text="' in draft


def test_only_managers_see_it(project: Project, bob: Person, charlie: Person) -> None:
    for person in (bob, charlie):
        read(person, project, status=404)
        read(person, project, "draft/?rule=delete-folder", status=404)
    queue = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert "/gateway/" not in queue


def test_what_cannot_be_softened_has_no_page(project: Project, alice: Person) -> None:
    read(alice, project, "draft/?rule=confirm", status=404)
    assert "Nobody was asked" in plain(read(alice, project, "draft/"))


def test_it_takes_as_many_queries_however_many_there_are(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    browser, taken = open_browser(alice.user), []
    address = f"/p/{project.slug}/gateway/"
    browser.get(address)
    for _ in range(2):
        run = start_run(agent)
        for number in range(4):
            command(agent, run, f"rm -rf a{number}")
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200
        taken.append(len(queries))
    assert taken[0] == taken[1] <= 12
