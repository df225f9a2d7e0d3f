"""The tree of a run on its page, the list of its children, and an abort that reaches them."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.live import updates
from console.live.updates import View
from console.runs import tree
from console.runs.rows import format_short_code, get_live_position
from ledger.models import Run
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def list_tree(page: str) -> list[tuple[str, str, str]]:
    """Depth, short id and cost of each row."""
    found = re.search(r'<ul class="tree">(.*?)</ul>', page, re.DOTALL)
    if found is None:
        return []
    return re.findall(
        r'<li class="(d\d(?: cur)?)">.*?(r-[0-9a-f]{6}).*?"num">([^<]+)<',
        found[1],
        re.DOTALL,
    )


def read_open_below(page: str) -> str:
    (found,) = re.findall(r'<b id="run-open-below">([^<]*)</b>', page)
    return str(found)


def report(agent: httpx.Client, run: str, cost: str) -> None:
    answer = agent.post(f"/runs/{run}/steps", json=step(1, cost_usd=cost))
    assert answer.status_code == 201, answer.text


def test_a_page_shows_the_runs_above_and_below_with_what_they_spent(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    top = start_run(agent)
    one = start_run(agent, parent_run=top)
    two = start_run(agent, parent_run=top)
    deep = start_run(agent, parent_run=one)
    for run, cost in ((top, "1.00"), (one, "0.20"), (two, "0.30"), (deep, "0.04")):
        report(agent, run, cost)
    agent.post(f"/runs/{two}/finish", json={"outcome": "completed"})
    client = open_browser(alice.user)

    def read(run: str) -> str:
        return client.get(f"/p/{project.slug}/runs/{run}/").content.decode()

    short = {run: format_short_code(run) for run in (top, one, two, deep)}
    assert list_tree(read(top)) == [
        ("d0 cur", short[top], "$1.54"),
        ("d1", short[one], "$0.24"),
        ("d2", short[deep], "$0.04"),
        ("d1", short[two], "$0.30"),
    ]
    assert [row[:2] for row in list_tree(read(deep))] == [
        ("d0", short[top]),
        ("d1", short[one]),
        ("d2 cur", short[deep]),
    ]
    assert read_open_below(read(top)) == "2 open runs"
    assert read_open_below(read(deep)) == ""
    assert list_tree(read(start_run(agent))) == []


def test_a_long_tree_is_cut_and_leads_to_the_list_of_children(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tree, "ROWS_LIMIT", 2)
    top = start_run(agent)
    children = [start_run(agent, parent_run=top) for _ in range(3)]
    start_run(agent, parent_run=children[0])
    client = open_browser(alice.user)

    page = client.get(f"/p/{project.slug}/runs/{top}/").content.decode()
    assert len(list_tree(page)) == 3
    assert "There are more: all children" in page
    (address,) = re.findall(r'href="(/p/[^"]*\?parent=[^"]*)"', page)
    listed = client.get(address).content.decode()
    assert re.findall(r'<tr id="run-([0-9a-f-]+)"', listed) == children[::-1]
    assert f"child of {format_short_code(top)}" in listed
    narrowed = client.get(address, {"parent": top, "show": "finished"})
    assert "<tr id=" not in narrowed.content.decode()
    everything = client.get(f"/p/{project.slug}/runs/").content.decode()
    assert "3 children, 3 open" in everything


@pytest.mark.parametrize("wrong", ["x", "00000000-0000-7000-8000-000000000000"])
def test_children_of_no_run_are_not_found(
    project: Project, alice: Person, wrong: str
) -> None:
    answer = open_browser(alice.user).get(f"/p/{project.slug}/runs/", {"parent": wrong})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("ticked", "status"), [({"children": "on"}, "aborted"), ({}, "running")]
)
def test_the_abort_dialog_reaches_children_where_its_box_is_ticked(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    ticked: dict[str, str],
    status: str,
) -> None:
    top = start_run(agent)
    child = start_run(agent, parent_run=top)
    path = f"/p/{project.slug}/runs/{top}/abort/"

    assert send(open_browser(alice.user), path, **ticked).status_code == 204
    assert Run.objects.get(code=top).status == "aborted"
    assert Run.objects.get(code=child).status == status


def test_a_page_hears_of_runs_below_and_a_list_draws_the_rows_above(
    project: Project, agent: httpx.Client
) -> None:
    top = start_run(agent)
    child = start_run(agent, parent_run=top)
    since = get_live_position(project_id=project.pk)
    report(agent, child, "0.25")

    def build(**view: Any) -> str:
        wanted = View(project_id=project.pk, **view)
        return updates.build_updates([(wanted, since)])[wanted, since].text

    assert "$0.25" in build(name="run", run=top)
    rows = re.findall(r'<tr id="run-([0-9a-f-]+)"', build(name="runs"))
    assert sorted(rows) == sorted([top, child])
