"""The page of a backtest: the sentence first, both judgements, and what becomes of it."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from accounts.models import Project
from guidance.models import PolicyVersion
from reviews.models import Backtest, JobState
from reviews.policies.backtest.perform import perform_next
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def read(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def try_draft(person: Person, project: Project, yaml: str) -> str:
    """Address of the page of a backtest that has not begun."""
    form = {"yaml": yaml, "do": "backtest", "side": "yaml"}
    answer = open_browser(person.user).post(
        f"/p/{project.slug}/policies/default/edit/", form
    )
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def perform_all() -> None:
    """Other tests may have left some behind."""
    while perform_next():
        pass


@pytest.fixture
def asked(
    project: Project, agent: httpx.Client, reviewer: httpx.Client
) -> dict[str, str]:
    """Two calls that people were asked about: one approved, one denied."""
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf build-a"), "approve")
    rule(reviewer, command(agent, run, "rm -rf build-b"), "deny")
    return {"run": run}


SOFTER = "tools: {rules: {delete-folder: warn}}"


@pytest.mark.usefixtures("asked")
def test_the_sentence_comes_first_and_disagreement_before_all_else(
    project: Project, alice: Person, bob: Person
) -> None:
    there = try_draft(alice, project, SOFTER)
    browser = open_browser(bob.user)
    waiting = browser.get(there).content.decode()
    assert "Reading …" in read(waiting)
    assert "every 1s" in waiting
    perform_all()
    page = browser.get(there).content.decode()
    said = read(page)
    assert "every 1s" not in page
    assert "Finished" in said
    assert "Asks 2 times less, and people had approved 1 of those." in said
    assert (
        "Of 2 decisions that change, people’s rulings agree with 1 , disagree with 1 , "
        "and say nothing about 0 ." in said
    )
    assert said.index("rm -rf build-b") < said.index("rm -rf build-a")
    assert re.search(r"ask delete-folder note delete-folder denied", said)
    assert "Agrees with people 1 of 2 50 % where they ruled" in said
    assert "Publish" not in said, "A reviewer may not."


@pytest.mark.usefixtures("asked")
def test_every_number_opens_its_list(project: Project, alice: Person) -> None:
    there = try_draft(alice, project, SOFTER)
    perform_all()
    browser = open_browser(alice.user)
    page = browser.get(there).content.decode()
    addresses = {unescape(each) for each in re.findall(r'href="([^"]*#items)"', page)}
    assert len(addresses) > 6
    for address in addresses:
        assert browser.get(address).status_code == 200
    only = read(browser.get(f"{there}?people=disagree").content.decode())
    assert "Decisions that change 1" in only
    assert "build-b" in only
    assert "build-a" not in only
    none = read(browser.get(f"{there}?gate=rework").content.decode())
    assert "None of them is of this kind." in none


@pytest.mark.usefixtures("asked")
def test_what_was_tried_is_published_with_a_note(
    project: Project, alice: Person, bob: Person
) -> None:
    there = try_draft(alice, project, SOFTER)
    browser = open_browser(alice.user)
    assert browser.post(f"{there}publish/", {"in_force": "1"}).status_code == 422
    given = {"in_force": "1", "note": "Nobody minds."}
    assert open_browser(bob.user).post(f"{there}publish/", given).status_code == 404
    done = browser.post(f"{there}publish/", given)
    assert done["Location"] == f"/p/{project.slug}/policies/default/"
    stored = PolicyVersion.objects.get(project=project, name="default", version=2)
    assert stored.note == "Nobody minds."
    assert "version 2, in force" in read(browser.get(done["Location"]).content.decode())
    # The same again changes nothing, and says so; what was typed stays.
    again = browser.post(f"{there}publish/", given | {"in_force": "2"})
    assert again.status_code == 409
    assert "nothing would change" in read(again.content.decode())
    assert 'value="Nobody minds."' in again.content.decode()


def test_a_stored_version_is_tried_and_put_in_force(
    project: Project, alice: Person
) -> None:
    for limit in (4, 5):
        make_policy("docs", project=project, **{"continue": {"repeat_limit": limit}})
    browser = open_browser(alice.user)
    path = f"/p/{project.slug}/policies/docs/versions/1/"
    there = browser.post(f"{path}backtest/")["Location"]
    perform_all()
    page = read(browser.get(there).content.decode())
    assert "Nothing was decided in this time." in page
    assert "Publish version 1" in page
    browser.post(f"{there}publish/", {"in_force": "2", "note": "Back."})
    at_last = browser.get(f"/p/{project.slug}/policies/docs/").content.decode()
    assert "version 1, in force" in read(at_last)


def test_it_is_cancelled_by_managers_and_says_so(
    project: Project, alice: Person, bob: Person
) -> None:
    there = try_draft(alice, project, SOFTER)
    assert open_browser(bob.user).post(f"{there}cancel/").status_code == 404
    browser = open_browser(alice.user)
    assert "Cancel" in read(browser.get(there).content.decode())
    browser.post(f"{there}cancel/")
    assert Backtest.objects.get(project=project).state == JobState.CANCELLED
    said = read(browser.get(there).content.decode())
    assert "Cancelled" in said
    assert "Cancel " not in said
