"""The run list: query and pills, tabs, order, totals, columns, and what it says when empty."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from accounts.models import Project
from tests.support.browsing import open_browser
from tests.support.builders import Person, pause_run, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


class List:
    """The list as one person sees it."""

    def __init__(self, project: Project, person: Person) -> None:
        self.client = open_browser(person.user)
        self.path = f"/p/{project.slug}/runs/"

    def read(self, query: str = "", **given: str) -> str:
        answer = self.client.get(f"{self.path}{query}", given or None)
        assert answer.status_code == 200
        return unescape(answer.content.decode())


@pytest.fixture
def runs(project: Project, alice: Person) -> List:
    return List(project, alice)


def list_codes(page: str) -> list[str]:
    return re.findall(r'<tr id="run-([0-9a-f-]+)"', page)


def list_words(page: str, part: str) -> str:
    """What stands in a part of the page, without its marks."""
    (found,) = re.findall(rf'class="{part}".*?</(?:footer|nav|div)>', page, re.S)
    return " ".join(re.sub(r"<[^>]*>|class=[^>]*>", " ", found).split())


def test_pills_say_the_query_and_taking_one_away_edits_it(
    runs: List, agent: httpx.Client
) -> None:
    start_run(agent, task="Move the totals")
    page = runs.read(q='agent:robo,"x y" status:active since:7d totals')

    assert len(list_codes(page)) == 1
    pills = re.findall(
        r'class="pill"><span>([^<]*)</span><b>([^<]*)</b><a href="([^"]*)"', page
    )
    assert [(label, words) for label, words, _ in pills] == [
        ("Agent", "robo, x y"),
        ("Status", "active"),
        ("Started", "last 7 days"),
        ("Text", "“totals”"),
    ]
    without = runs.read(pills[0][2])
    assert 'name="q" value="status:active since:7d totals"' in without


def test_a_word_that_is_not_understood_is_named_and_the_rest_counts(
    runs: List, agent: httpx.Client
) -> None:
    start_run(agent)
    page = runs.read(q="colour:red status:failed")
    assert "there is no “colour” to filter by" in page
    assert list_codes(page) == []


def test_tabs_count_each_end_and_lead_to_it(runs: List, agent: httpx.Client) -> None:
    paused, done = start_run(agent), start_run(agent)
    pause_run(agent, paused)
    agent.post(f"/runs/{done}/finish", json={"outcome": "completed"})

    page = runs.read()

    tabs = re.findall(r'<a href="(\?[^"]*)"[^>]*>(\w+) <span>(\d+)</span>', page)
    assert [(name, count) for _, name, count in tabs if count != "0"] == [
        ("All", "2"),
        ("Active", "1"),
        ("Completed", "1"),
    ]
    (address,) = [address for address, name, _ in tabs if name == "Completed"]
    assert list_codes(runs.read(address)) == [done]


def test_a_head_sorts_and_turns_the_order_around(
    runs: List, agent: httpx.Client
) -> None:
    made = []
    for cost in ("0.30", "0.10", "0.20"):
        made.append(start_run(agent))
        agent.post(f"/runs/{made[-1]}/steps", json=step(1, cost_usd=cost))
    agent.post(f"/runs/{made[2]}/finish", json={"outcome": "completed"})
    heads = re.compile(r'<th scope="col" class="cost num"([^>]*)\s*><a href="([^"]*)">')

    ((state, address),) = heads.findall(runs.read())
    assert "aria-sort" not in state
    down = runs.read(address)
    assert list_codes(down) == [made[0], made[2], made[1]]
    ((state, address),) = heads.findall(down)
    assert 'aria-sort="descending"' in state
    assert list_codes(runs.read(address)) == [made[1], made[2], made[0]]


def test_totals_are_of_the_whole_result(
    runs: List, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.runs.list.views.PAGE", 1)
    for number in range(3):
        run = start_run(agent)
        body = step(1, tokens=1000, cost_usd="0.25", duration_ms=60_000)
        agent.post(f"/runs/{run}/steps", json=body)
        if number:
            agent.post(
                f"/runs/{run}/finish",
                json={"outcome": "completed", "tests": {"ran": True, "passed": 1}},
            )

    page = runs.read()

    assert len(list_codes(page)) == 1
    words = list_words(page, "totalsfoot")
    assert (
        "3 runs 3 steps 3k tokens $0.75 1 m median of 2 ended accepted 2 of 2" in words
    )


def test_columns_are_left_out_by_the_address(runs: List, agent: httpx.Client) -> None:
    start_run(agent)
    assert 'data-hide=""' in runs.read()
    assert 'data-hide="why steps tokens time"' in runs.read(
        "?column=cost&column=started"
    )
    page = runs.read("?columns=cost,started&sort=-cost")
    assert "columns=cost%2Cstarted" in page, "the links keep it"


def test_an_empty_list_says_what_to_do(runs: List) -> None:
    assert "agent_key" in runs.read(), "the command that brings the first run"
    page = runs.read(q="agent:nobody status:failed,stopped")
    assert "Nothing for agent nobody, status failed or stopped." in page
    assert ">Clear<" in page


def test_the_csv_has_what_the_list_has(runs: List, agent: httpx.Client) -> None:
    start_run(agent)
    assert 'runs.csv?q=status%3Aactive&sort=-cost"' in runs.read(
        "?q=status:active&sort=-cost"
    )
