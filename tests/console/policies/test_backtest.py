"""The page of a backtest: the sentence first, both judgements, and what becomes of it."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from guidance.models import PolicyVersion
from reviews.models import Backtest, JobState
from reviews.policies.backtest.perform import perform_next
from tests.gateway.calls.calls import ask, command, rule
from tests.support.browsing import download, open_browser
from tests.support.builders import Person, make_policy, start_run, step
from tests.support.live import Live

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


def read_csv(answer: httpx.Response) -> list[dict[str, str]]:
    text = answer.content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


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
    assert "No longer asks in 2 cases ; people had approved 1 of those." in said
    assert (
        "Of 2 decisions that change, people’s rulings agree with 1 , disagree with 1 , "
        "and say nothing about 0 ." in said
    )
    assert said.index("rm -rf build-b") < said.index("rm -rf build-a")
    assert re.search(r"ask delete-folder note delete-folder denied bob", said)
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
def test_every_number_of_the_sentence_counts_its_list(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    edits = [{"old": "a", "new": "b"}]
    ask(
        agent,
        start_run(agent),
        kind="multi_edit",
        file_path="a",
        original="a",
        edits=edits,
    )
    there = try_draft(alice, project, SOFTER)
    perform_all()
    browser = open_browser(alice.user)
    page = browser.get(there).content.decode()
    numbers = re.findall(r'<a class="lnk[^"]*" href="([^"]*)">([^<]*)</a>', page)
    assert len(numbers) == 7
    for address, text in numbers:
        listed = browser.get(unescape(address)).content.decode()
        (total,) = re.findall(r'items-title">[^<]*</h2><span class="n">(\d+)', listed)
        assert total == (re.findall(r"\d+", text) or ["1"])[0], text
        assert listed.count('class="what"') == int(total)
    unknown = read(browser.get(f"{there}?unknown=any").content.decode())
    assert "Decisions that cannot be judged 1" in unknown
    assert re.search(
        r"Call, entry 2 robo r-\w{6} not all of the call was kept", unknown
    )


@pytest.mark.usefixtures("asked")
def test_every_figure_and_every_cell_counts_its_list(
    live: Live,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    for number in (1, 2, 3):
        agent.post(f"/runs/{run}/steps", json=step(number, summary=f"Step {number}"))
    command(agent, run, "ls")
    there = try_draft(alice, project, SOFTER)
    perform_all()
    browser = open_browser(alice.user)
    page = browser.get(there).content.decode()
    numbers = re.findall(
        r'<(?:a class="v[^"]*"|td class="\w+"><a) href="([^"]*)">([^<]*)<', page
    )
    assert [text for _, text in numbers] == [
        *("6", "2", "0", "\N{MINUS SIGN}2", "1 of 2"),  # the figures
        *("3", "1", "2"),  # steps, then calls
    ]
    for address, text in numbers:
        listed = browser.get(unescape(address)).content.decode()
        (total,) = re.findall(r'items-title">[^<]*</h2><span class="n">(\d+)', listed)
        assert total == re.findall(r"\d+", text)[0], address
        assert listed.count('class="what"') == int(total)
    same = f"{there}?kind=step&move=continue%E2%86%92continue"
    said = read(browser.get(same).content.decode())
    assert "Decisions that stay the same 3" in said
    assert re.search(r"Step 3 robo r-\w{6} step 3 continue the same –", said)
    exported = download(live, alice.user, same.replace("?", "items.csv?"))
    rows = read_csv(exported)
    assert {(row["before"], row["after"]) for row in rows} == {("continue",) * 2}
    monkeypatch.setattr("console.policies.backtest.exports._ROWS", 3)
    whole = download(live, alice.user, f"{there}items.json?judged=any").json()
    assert len(whole["items"]) == len({each["subject"] for each in whole["items"]}) == 6


@pytest.mark.usefixtures("asked")
def test_it_says_which_versions_had_decided(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    """What came in with an earlier version is among what a draft changes."""
    there = try_draft(alice, project, SOFTER)
    browser = open_browser(alice.user)
    said = "Compared with what was decided at the time, in runs under versions 1 and 2."
    assert said not in read(browser.get(there).content.decode())
    make_policy("default", project=project, checks={"max_resets": 1})
    start_run(agent)
    there = try_draft(alice, project, SOFTER)
    perform_all()
    assert said in read(browser.get(there).content.decode())


@pytest.mark.usefixtures("asked")
def test_a_backtest_from_before_says_that_it_must_be_run_again(
    project: Project, alice: Person
) -> None:
    there = try_draft(alice, project, "tools: {max_diff_lines: 299}")
    perform_all()
    Backtest.objects.get(code=there.split("/")[-2]).unchanged.all().delete()
    page = open_browser(alice.user).get(f"{there}?judged=any").content.decode()
    assert "Run it again to list them." in read(page)


@pytest.mark.usefixtures("asked")
def test_long_lists_are_paged(
    project: Project, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.policies.backtest.lists.ITEMS", 1)
    there = try_draft(alice, project, SOFTER)
    perform_all()
    browser = open_browser(alice.user)
    first = browser.get(f"{there}?asks=less").content.decode()
    assert "1–1 of 2" in read(first)
    assert "build-b" in first
    assert "build-a" not in first
    (onward,) = re.findall(r'href="([^"]*)" rel="next"', first)
    second = browser.get(unescape(onward)).content.decode()
    assert "2–2 of 2" in read(second)
    assert "build-a" in second
    assert 'rel="prev"' in second
    assert 'rel="next"' not in second
    assert browser.get(f"{there}?page=99").status_code == 200


@pytest.mark.usefixtures("asked")
def test_the_list_is_exported_as_it_is_filtered(
    live: Live, project: Project, alice: Person, bob: Person, charlie: Person
) -> None:
    there = try_draft(alice, project, SOFTER)
    perform_all()
    answer = download(live, bob.user, f"{there}items.csv?people=disagree")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    (row,) = read_csv(answer)
    assert (row["before"], row["after"]) == ("require-confirmation", "warn")
    assert (row["subject"], row["ruling"]) == ("rm -rf build-b", "deny")
    whole = download(live, bob.user, f"{there}items.json").json()
    assert whole["backtest"]["changed"] == len(whole["items"]) == 2
    assert whole["items"][0]["before"]["decision"] == "require-confirmation"
    assert open_browser(charlie.user).get(f"{there}items.csv").status_code == 404


def test_a_text_that_a_spreadsheet_would_run_is_inert(
    live: Live, project: Project, alice: Person, agent: httpx.Client
) -> None:
    command(agent, start_run(agent), "+x; rm -rf src")
    there = try_draft(alice, project, SOFTER)
    perform_all()
    (row,) = read_csv(download(live, alice.user, f"{there}items.csv"))
    assert row["subject"].startswith("'+x")


@pytest.mark.usefixtures("asked")
def test_it_is_run_again_over_another_time_agent_or_run(
    project: Project, alice: Person, bob: Person, asked: dict[str, str]
) -> None:
    there = try_draft(alice, project, SOFTER)
    perform_all()
    browser = open_browser(alice.user)
    page = browser.get(there).content.decode()
    today = timezone.now().date()
    assert f'name="until" value="{today}"' in page
    days = {"since": str(today), "until": str(today), "runs": "policy"}

    def run_again(**more: str) -> str:
        answer = browser.post(f"{there}again/", days | more)
        assert answer.status_code == 302, answer.content
        perform_all()
        return read(browser.get(answer["Location"]).content.decode())

    assert "No longer asks in 2 cases" in run_again(agent="robo")
    assert "No longer asks in 2 cases" in run_again(run=asked["run"], runs="all")
    before = str(today - timedelta(days=9))
    assert "Nothing was decided" in run_again(since=before, until=before)
    for wrong, said in {
        ("since", "x"): "A day, such as",
        ("until", before): "This is before the first day.",
        ("agent", "nobody"): "no agent of this project has this name",
        ("run", "nothing"): "this project has no such run",
    }.items():
        refused = browser.post(f"{there}again/", days | dict([wrong]))
        assert refused.status_code == 422
        assert said in read(refused.content.decode())
    assert open_browser(bob.user).post(f"{there}again/", days).status_code == 404


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
