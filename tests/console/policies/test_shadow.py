"""The page of a draft in shadow: started from its version, watched, stopped, published."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from accounts.models import Project
from guidance.selectors import find_version_in_force
from reviews.models import PolicyShadow
from reviews.policies.services import create_version
from reviews.policies.shadow.running import refresh_shadows
from tests.gateway.calls.calls import command
from tests.gateway.shadow.test_steps import REWORK, report
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
DRAFT = {
    "continue": {"max_rework_ratio": 0.25},
    "tools": {"rules": {"git-push-force": "warn"}},
}


def read(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.fixture
def version(project: Project) -> str:
    """The address of the draft's page."""
    create_version(project_id=project.pk, name="default", document=DRAFT)
    return f"/p/{project.slug}/policies/default/versions/2/"


def start(person: Person, version: str, **form: str) -> str:
    given = {"hours": "24", "note": "Is it too strict?", **form}
    answer = open_browser(person.user).post(f"{version}shadow/", given)
    assert answer.status_code == 302, read(answer.content.decode())
    return str(answer["Location"])


def test_a_manager_starts_it_on_the_page_of_the_draft_and_watches(
    project: Project, alice: Person, bob: Person, agent: httpx.Client, version: str
) -> None:
    there = start(alice, version)
    watcher = open_browser(bob.user)
    empty = watcher.get(there).content.decode()
    assert "Nothing was decided yet" in read(empty)
    assert 'hx-trigger="update, every 5s"' in empty
    run = start_run(agent)
    report(agent, run, *REWORK)
    command(agent, run, "git push --force")
    refresh_shadows()

    page = watcher.get(there).content.decode()
    said = read(page)

    assert (
        "The draft decides 2 of 9 decisions differently, in 1 run; it would ask people "
        "in 1 more case and no longer in 1 case ." in said
    )
    assert "Is it too strict?" in said
    assert re.search(
        r"Step 7 robo r-\w{6} step 7 continue rework 29 %, within the limit "
        r"pause rework 29 %, limit 25 %",
        said,
    )
    assert "git push --force robo" in said
    assert f'href="{there}?kind=step&amp;move=continue%E2%86%92pause#items"' in page
    # A reviewer watches, and changes nothing.
    assert "Stop" not in said
    assert "Publish" not in said
    notice = read(watcher.get(version).content.decode())
    assert (
        "Version 2 runs in shadow. So far it would decide 2 decisions differently."
        in notice
    )


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("", ["git push --force", "Step 7"]),
        ("?asks=more", ["Step 7"]),
        ("?gate=destructive", ["git push --force"]),
        ("?move=continue%E2%86%92pause", ["Step 7"]),
        ("?outcome=unknown", []),
    ],
)
def test_every_number_opens_its_list(
    alice: Person, agent: httpx.Client, version: str, query: str, listed: list[str]
) -> None:
    there = start(alice, version)
    run = start_run(agent)
    report(agent, run, *REWORK)
    command(agent, run, "git push --force")
    page = open_browser(alice.user).get(there + query).content.decode()
    assert re.findall(r'class="what" href="[^"]*">([^<]*)<', page) == listed


def test_what_could_not_be_judged_is_shown_with_its_reason(
    alice: Person, agent: httpx.Client, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = start(alice, version)

    def fail(_item: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gateway.shadow.judge_step_again", fail)
    report(agent, start_run(agent), False)
    browser = open_browser(alice.user)
    said = read(browser.get(there).content.decode())
    assert "None of them" in read(
        browser.get(f"{there}?outcome=changed").content.decode()
    )
    assert "Could not be judged 1 judging it failed (ZeroDivisionError)" in said
    assert "Not judged 1" in said


def test_it_is_stopped_and_published_from_its_page(
    project: Project, alice: Person, version: str
) -> None:
    there = start(alice, version)
    browser = open_browser(alice.user)
    again = browser.post(f"{version}shadow/", {"hours": "1", "note": "Once more"})
    assert again.status_code == 409
    assert "Stop it first." in read(again.content.decode())
    assert browser.post(f"{there}stop/").status_code == 302
    page = browser.get(there).content.decode()
    assert "Stopped after" in read(page)
    assert "every 5s" not in page
    assert browser.post(f"{there}stop/").status_code == 409
    second = start(alice, version)
    form = {"note": "It helped", "in_force": "1"}
    answer = browser.post(f"{version}activate/", form)
    assert answer.status_code == 302
    active = find_version_in_force(project_id=project.pk, name="default")
    assert active is not None
    assert active.version == 2
    published = read(browser.get(second).content.decode())
    assert "Published after" in published
    assert PolicyShadow.objects.get(code=second.split("/")[-2]).end == "published"


@pytest.mark.parametrize(
    "form", [{"note": ""}, {"hours": "2000"}, {"hours": ""}, {"hours": "x"}]
)
def test_what_is_missing_is_said_and_nothing_starts(
    project: Project, alice: Person, version: str, form: dict[str, str]
) -> None:
    given = {"hours": "24", "note": "Why not", **form}
    answer = open_browser(alice.user).post(f"{version}shadow/", given)
    assert answer.status_code == 422
    assert not PolicyShadow.objects.filter(project=project).exists()


def test_others_neither_start_nor_see_it(
    project: Project, alice: Person, bob: Person, charlie: Person, version: str
) -> None:
    there = start(alice, version)
    assert open_browser(bob.user).post(f"{there}stop/").status_code == 404
    assert open_browser(bob.user).post(f"{version}shadow/", {}).status_code == 404
    assert open_browser(charlie.user).get(there).status_code == 404
