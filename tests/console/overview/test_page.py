"""The page itself: figures that were really made, each with its list, at a fixed price."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from xml.etree import ElementTree

import httpx
import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from ledger.statistics.counting import count_project
from tests.console.overview.conftest import Read, read_section, read_text
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import (
    Person,
    make_policy,
    make_project,
    pause_at_once,
    start_run,
    step,
)

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def busy(agent: httpx.Client, reviewer: httpx.Client) -> None:
    """One run goes on, one is stopped, one fails, one asks about a call twice."""
    calm = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{calm}/steps", json=step(number, cost_usd="1.25"))
    agent.post(f"/runs/{calm}/finish", json={"outcome": "completed"})
    agent.post(f"/runs/{start_run(agent)}/steps", json=step(1, coherence=0.1))
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "failed"})
    asking = start_run(agent)
    for action, folder in (("approve", "src"), ("deny", "docs")):
        asked = command(agent, asking, f"rm -rf {folder}")
        rule(reviewer, asked, action)
    pause_at_once(agent, start_run(agent))


def test_a_project_without_runs_says_how_the_first_step_comes(
    project: Project, bob: Person
) -> None:
    page = open_browser(bob.user).get(f"/p/{project.slug}/overview/").content.decode()
    assert "No runs yet" in page
    assert "agent_key my-agent" in page
    assert "Needs you now" not in page


def test_the_figures_of_what_happened(busy: None, bob: Person, read: Read) -> None:
    page = read(bob)
    text = read_text(page)
    assert "Runs 5 none before to compare" in text
    assert "Spend $2.50" in text
    assert "Reviews 3" in text
    assert "Stopped by a gate 1 " in text
    decisions = read_text(read_section(page, "decisions-title"))
    assert "throttle 0" in decisions
    assert "pause 1" in decisions
    assert "stop 1" in decisions
    assert "Went on at once 2" in decisions
    assert "Not drawn: continue and checkpoint , 50.0 % of steps" in decisions
    assert "Coherence too low 1 +1" in read_text(read_section(page, "endings-title"))
    waits = read_text(read_section(page, "waits-title"))
    assert "2 rulings" in waits
    assert "no answer in time 0" in waits
    rules = read_text(read_section(page, "rules-title"))
    assert "asked 2 , approved 1 , denied 1" in rules
    agents = read_text(read_section(page, "agents-title"))
    assert re.search(r"robo .* 5 .* 3 – 1 \$2\.50", agents), agents


def test_calls_instead_of_steps(busy: None, bob: Person, read: Read) -> None:
    section = read_section(read(bob, of="calls"), "decisions-title")
    text = read_text(section)
    assert "ask a person 2" in text
    assert "Not drawn: allow , 0.0 % of calls" in text


def test_what_was_before_the_period_is_compared_with(
    agent: httpx.Client, project: Project, bob: Person
) -> None:
    start_run(agent)
    count_project(project_id=project.pk)
    browser = open_browser(bob.user)
    with time_machine.travel(timezone.now() + timedelta(days=7, hours=1), tick=False):
        page = browser.get(f"/p/{project.slug}/overview/", {"period": "7d"})
        text = read_text(page.content.decode())
    assert "Runs 0 100 % fewer than 1" in text


def test_every_number_leads_somewhere_that_is_there(
    busy: None, alice: Person, read: Read
) -> None:
    page = read(alice)
    start = page.index('id="overview-page"')
    found = {
        unescape(each) for each in re.findall(r'<a [^>]*?href="([^"]*)"', page[start:])
    }
    browser = open_browser(alice.user)
    assert len(found) > 20
    for address in sorted(each for each in found if each.startswith("/p/")):
        assert browser.get(address).status_code == 200, address
    for part in re.findall(r"<b>\$[\d.,]+<", page[start:]):
        before = page[start:].split(part)[0]
        assert before.rfind("<a ") > before.rfind("</a>"), f"{part} opens nothing"


def test_charts_are_well_formed_and_have_their_figures_as_a_table(
    busy: None, bob: Person, read: Read
) -> None:
    page = read(bob)
    plots = re.findall(r'<svg class="plot".*?</svg>(?=\s*</div>)', page, re.S)
    assert len(plots) == 3
    for plot in plots:
        root = ElementTree.fromstring(plot)  # noqa: S314 (drawn by us)
        assert root.get("role") == "group"
        assert root.get("aria-label")
        links = list(root.iter("a"))
        assert links
        assert all(link.findtext("title") for link in links)
    assert len(re.findall(r'<div class="figures">\s*<table>', page)) == 3


@pytest.mark.parametrize("period", ["24h", "7d", "30d", "90d", "nonsense"])
def test_any_period_has_a_page(
    busy: None, bob: Person, read: Read, period: str
) -> None:
    page = read(bob, period=period)
    chosen = re.findall(r'<a href="\?period=(\w+)" aria-current="true">', page)
    assert chosen[0] == (period if period != "nonsense" else "30d")


def test_its_price_does_not_grow_with_what_it_shows(
    agent: httpx.Client, project: Project, alice: Person, reviewer: httpx.Client
) -> None:
    browser = open_browser(alice.user)

    def count_queries() -> int:
        count_project(project_id=project.pk)
        browser.get(f"/p/{project.slug}/overview/")
        with CaptureQueriesContext(connection) as asked:
            page = browser.get(f"/p/{project.slug}/overview/")
        assert page.status_code == 200
        assert not [each for each in asked if '"ledger_entry"' in each["sql"]], (
            "no entry is read for a page"
        )
        return len(asked)

    agent.post(f"/runs/{start_run(agent)}/steps", json=step(1))
    before = count_queries()
    for _ in range(3):
        agent.post(f"/runs/{start_run(agent)}/steps", json=step(1, coherence=0.1))
        asked = command(agent, start_run(agent), "rm -rf src")
        rule(reviewer, asked, "approve")
    assert count_queries() == before
    assert before <= QUERIES


def test_limits_are_shown_before_anything_is_used_and_of_every_policy(
    agent: httpx.Client, project: Project, bob: Person, read: Read
) -> None:
    make_policy("default", project=project, limits={"project_month": {"cost_usd": "9"}})
    make_policy("strict", project=project, limits={"project_day": {"cost_usd": "3"}})
    run = start_run(agent)
    spend = read_text(read_section(read(bob), "spend-title"))
    assert "$0.00 of $9.00" in spend
    assert "No limit for the month" not in spend
    assert "Project, today $0.00 of $3" in spend
    # The run began under a version that is in force no more.
    make_policy("default", project=project, limits={"agent_day": {"cost_usd": "5"}})
    agent.post(f"/runs/{run}/steps", json=step(1, cost_usd="1.00"))
    spend = read_text(read_section(read(bob), "spend-title"))
    assert "robo, today $1.00 of $5" in spend
    make_policy("strict", project=project, limits={"agent_day": {"cost_usd": "4"}})
    spend = read_text(read_section(read(bob), "spend-title"))
    assert "robo, today, strict $1.00 of $4" in spend
    assert "robo, today, default $1.00 of $5" in spend


def test_figures_that_are_behind_say_up_to_when(
    agent: httpx.Client, project: Project, bob: Person
) -> None:
    browser = open_browser(bob.user)
    start_run(agent)
    count_project(project_id=project.pk)
    page = browser.get(f"/p/{project.slug}/overview/").content.decode()
    assert "counted up to" not in page
    start_run(agent)
    with time_machine.travel(timezone.now() + timedelta(minutes=5), tick=False):
        page = browser.get(f"/p/{project.slug}/overview/").content.decode()
    assert "counted up to" in page


def test_figures_that_nobody_has_counted_yet_say_so(
    agent: httpx.Client, project: Project, bob: Person, read: Read
) -> None:
    start_run(agent)
    page = open_browser(bob.user).get(f"/p/{project.slug}/overview/").content.decode()
    assert "Figures are not counted yet." in page
    assert "Figures are not counted yet." not in read(bob)


def test_a_run_that_is_stopped_and_then_aborted_counts_each_time(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person, read: Read
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    assert "stopped 1 time " in read_text(read_section(read(bob), "endings-title"))
    aborted = reviewer.post(f"/runs/{run}/abort", json={"reason": "Enough"})
    assert aborted.status_code == 200, aborted.text
    assert "stopped 2 times " in read_text(read_section(read(bob), "endings-title"))


def test_a_rule_that_everybody_approves_may_be_changed_by_a_manager(
    agent: httpx.Client,
    reviewer: httpx.Client,
    alice: Person,
    bob: Person,
    read: Read,
) -> None:
    run = start_run(agent)
    for number in range(10):
        asked = command(agent, run, f"rm -rf src/part{number}")
        rule(reviewer, asked, "approve")
    assert "Draft change" in read(alice)
    assert "Draft change" not in read(bob)


def test_nobody_sees_what_is_of_another_project(
    busy: None, bob: Person, charlie: Person, project: Project
) -> None:
    answer = open_browser(charlie.user).get(f"/p/{project.slug}/overview/")
    assert answer.status_code == 404
    elsewhere = make_project()
    assert (
        open_browser(bob.user).get(f"/p/{elsewhere.slug}/overview/").status_code == 404
    )


# Of the whole page with its frame: session, person, membership, fleet and queue as well.
QUERIES = 38
