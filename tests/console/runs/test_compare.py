"""Two runs side by side, a run beside what is usual, and calls with their whole life."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.runs.compare.figures import Measured, build_figure_rows
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_robot, start_run, step
from tests.support.live import Live

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def make_run(agent: httpx.Client, *, steps: int, finish: bool = True) -> str:
    run = start_run(agent)
    for number in range(1, steps + 1):
        body = step(number, tokens=1_000, coherence=0.9, uncertainty=0.1)
        assert agent.post(f"/runs/{run}/steps", json=body).status_code == 201
    if finish:
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    return run


def read_rows(page: str) -> dict[str, list[str]]:
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', body, re.S)
    return {name: re.findall(r"<td[^>]*>(.*?)</td>", rest) for name, rest in rows}


def test_two_runs_stand_side_by_side(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    django_assert_max_num_queries: Any,
) -> None:
    first, second = make_run(agent, steps=6), make_run(agent, steps=2)
    client = open_browser(alice.user)
    here = f"/p/{project.slug}/runs/compare/"
    with django_assert_max_num_queries(25):
        page = client.get(here, {"a": first, "b": second}).content.decode()
    rows = read_rows(page)
    assert rows["Steps"] == ["6", "2", "3.0 times as much"]
    assert rows["Tokens"][:2] == ["6k", "2k"]
    assert rows["Status"][:2] == ["completed", "completed"]
    assert rows["Steps: continue"][:2] == ["6", "2"]
    assert page.count("Coherence, steps 1 to") >= 2
    assert f"b={first}" not in page
    assert f'value="{second}" selected' in page
    bare = client.get(here, {"a": first}).content.decode()
    assert "Compare it with what?" in bare
    assert "Compare which run?" in client.get(here).content.decode()
    assert client.get(here, {"a": first, "b": "nothing"}).status_code == 404
    assert client.get(here, {"a": "nothing"}).status_code == 404


def test_the_second_run_stays_chosen_whoever_made_it(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    live: Live,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also an old one, which is no longer offered."""
    monkeypatch.setattr("console.runs.compare.side._OTHERS", 1)
    first, old, _newest = (make_run(agent, steps=1) for _ in range(3))
    with client_for(live, make_robot("other", project=project)) as other:
        foreign = make_run(other, steps=1)
    client = open_browser(alice.user)
    for chosen in (old, foreign):
        page = client.get(
            f"/p/{project.slug}/runs/compare/", {"a": first, "b": chosen}
        ).content.decode()
        assert re.findall(r'<option value="([^"]*)" selected', page) == [chosen]


def test_a_run_beside_the_median_of_its_agent(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = make_run(agent, steps=6)
    client = open_browser(alice.user)
    here = f"/p/{project.slug}/runs/compare/"
    alone = client.get(here, {"a": run, "b": "median"}).content.decode()
    assert "nothing is usual yet" in alone
    for steps in (1, 2, 4):
        make_run(agent, steps=steps)
    make_run(agent, steps=1, finish=False)
    page = client.get(here, {"a": run, "b": "median"}).content.decode()
    assert read_rows(page)["Steps"][:2] == ["6", "2"]
    assert "of the newest 3 runs" in page


def test_differences_are_said_in_words() -> None:
    low = Measured(
        steps=10, tokens=0, cost_micros=100, tool_calls=4, time_ms=1, rework=0
    )
    high = Measured(
        steps=11, tokens=5, cost_micros=400, tool_calls=4, time_ms=1, rework=0
    )
    said = {row.name: row.difference for row in build_figure_rows(high, low)}
    assert said["Steps"] == "10 % more"
    assert said["Cost"] == "4.0 times as much"
    assert (said["Tokens"], said["Tool calls"]) == ("", "")
    other = {row.name: row.difference for row in build_figure_rows(low, high)}
    assert other["Cost"] == "75 % less"


def test_a_call_is_followed_from_asking_to_its_result(
    project: Project, alice: Person, manager: httpx.Client, agent: httpx.Client
) -> None:
    run = start_run(agent)
    done = command(agent, run, "git status")
    claim(agent, run, done)
    settle(agent, run, done, output="clean")
    held = command(agent, run, "rm -rf src")
    client = open_browser(alice.user)
    here = f"/p/{project.slug}/runs/{run}/calls/"
    page = client.get(here).content.decode()
    assert page.index("rm -rf src") < page.index("git status")
    assert "waits for a person" in page
    rule(manager, held, "approve", note="Only this once")
    page = client.get(here).content.decode()
    life = re.findall(r'<span class="chip [^"]*">([^<]*)</span>', page)
    assert life[:3] == ["asked", "held for a person", life[2]]
    assert life[2].startswith("approved by ")
    assert life[3:] == [
        "may run, not started yet",
        *("asked", "allowed", "started", "done"),
    ]
    assert "“Only this once”" in page
    assert f"/queue/{held['review']['id']}/" in page
