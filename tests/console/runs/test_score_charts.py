"""The charts of scores: what counted, what the agent says, the limit, and where it bit."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from accounts.models import Project
from console.runs.score_charts import ScoreChart, build_score_charts
from guidance.core.policy import ContinueLimits
from ledger.models import Entry
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("draws charts, whatever database is behind them")


def build_steps(
    metric: str, *values: float | None, said: float | None = None, stopped: int = 0
) -> list[Entry]:
    return [
        Entry(
            step_number=number,
            payload=json.dumps(
                {
                    "verdict": {
                        "metrics": {metric: value, f"{metric}_reported": said},
                        "findings": [{"gate": metric, "decision": "stop"}]
                        if number == stopped
                        else [],
                    }
                }
            ),
        )
        for number, value in enumerate(values, 1)
    ]


def draw(*given: Any, **more: Any) -> tuple[ScoreChart, ElementTree.Element]:
    (chart,) = build_score_charts(build_steps(*given, **more), ContinueLimits())
    return chart, ElementTree.fromstring(chart.drawing)  # noqa: S314 (our own)


def list_places(svg: ElementTree.Element, line: str) -> list[list[tuple[float, float]]]:
    found = svg.findall(f"polyline[@class='{line}']")
    return [
        [
            (float(x), float(y))
            for x, y in (pair.split(",") for pair in each.attrib["points"].split())
        ]
        for each in found
    ]


def test_what_counted_is_solid_what_the_agent_says_dotted_and_the_limit_has_words() -> (
    None
):
    chart, svg = draw("coherence", 1.0, 0.5, 0.25, said=1.0, stopped=3)
    ((*seen,),) = list_places(svg, "seen")
    assert [round((80 - y) / 68, 2) for _, y in seen] == [1.0, 0.5, 0.25]
    assert [x for x, _ in seen] == [32.0, 165.0, 298.0]
    # Where it says what was seen there is nothing of its own to draw.
    ((*claimed,),) = list_places(svg, "claimed")
    assert claimed == [(165.0, 12.0), (298.0, 12.0)]
    (limit,) = svg.findall("line[@class='limit']")
    assert round((80 - float(limit.attrib["y1"])) / 68, 2) == 0.4
    assert svg.findtext("text[@class='limit']") == "stops under 0.40"
    (mark,) = svg.findall("circle")
    assert mark.attrib["class"] == "stop"
    assert mark.findtext("title") == "step 3: 0.25"
    assert (chart.last, chart.tone) == ("0.25", "stop")
    assert svg.attrib["aria-label"] == (
        "Coherence, steps 1 to 3: stops under 0.40, last 0.25, and what the agent says, "
        "dotted"
    )


def test_a_line_ends_where_a_step_has_no_score() -> None:
    _, svg = draw("uncertainty", 0.1, 0.2, None, 0.3, 0.4)
    assert [len(line) for line in list_places(svg, "seen")] == [2, 2]
    assert list_places(svg, "claimed") == []


def test_small_shares_fill_the_chart_and_are_said_in_per_cent() -> None:
    chart, svg = draw("rework_ratio", 0.0, 0.1, 0.35)
    ((*seen,),) = list_places(svg, "seen")
    assert round((80 - seen[-1][1]) / 68, 2) == 0.7, "The top is 50 %."
    assert svg.findtext("text[@class='limit']") == "pauses over 30 %"
    assert (chart.last, chart.tone) == ("35 %", "pause")


def test_what_nobody_measured_has_no_chart() -> None:
    assert build_score_charts([], ContinueLimits()) == ()
    one = build_steps("coherence", 0.5)
    assert build_score_charts(one, ContinueLimits()) == ()


def test_the_page_of_a_run_has_them(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    for number in (1, 2):
        body = step(number, uncertainty=0.2, coherence=0.9)
        agent.post(f"/runs/{run}/steps", json=body)
    there = f"/p/{project.slug}/runs/{run}/"
    page = open_browser(bob.user).get(there).content.decode()
    for words in ("stops under 0.40", "pauses over 0.80", "pauses over 30 %"):
        assert words in page, words
