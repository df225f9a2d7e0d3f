"""The curves of a run: what counted, what the agent says, the limit, and where it bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.runs.curves import Curve, build_curves, read_steps, sampling
from console.runs.curves.sampling import SampledSteps, StepPoint
from console.runs.curves.scores import build_score_curves
from guidance.core.policy import ContinueLimits
from ledger.models import Run
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("draws charts, whatever database is behind them")


def build_points(
    metric: str, *values: float | None, said: float | None = None, stopped: int = 0
) -> list[StepPoint]:
    return [
        StepPoint(
            number=number,
            metrics={metric: value, f"{metric}_reported": said},
            found={metric: "stop"} if number == stopped else {},
            tokens=100,
            cost_micros=0,
        )
        for number, value in enumerate(values, 1)
    ]


def draw(*given: Any, **more: Any) -> Curve:
    (curve,) = build_score_curves(build_points(*given, **more), ContinueLimits())
    return curve


def test_what_counted_is_solid_what_the_agent_says_dotted_and_the_limit_has_words() -> (
    None
):
    curve = draw("coherence", 1.0, 0.5, 0.25, said=1.0, stopped=3)
    assert 'class="l-said"' in curve.plot.drawing
    assert 'class="l-accent"' in curve.plot.drawing
    assert "agent says 1.00" in curve.plot.drawing
    assert "stops under 0.40" in curve.plot.drawing
    assert 'class="dot stop"' in curve.plot.drawing
    assert (curve.figure, curve.tone, curve.beside) == ("0.25", "stop", "at step 3")
    assert curve.about == (
        "Coherence, steps 1 to 3: stops under 0.40, 0.25 at step 3, the agent says 1.00, "
        "dotted"
    )
    assert curve.plot.rows == (
        ("1", "1.00", "1.00"),
        ("2", "0.50", "1.00"),
        ("3", "0.25", "1.00"),
    )


def test_a_line_ends_where_a_step_has_no_score_and_agreeing_says_nothing() -> None:
    curve = draw("uncertainty", 0.1, 0.1, None, 0.1, 0.1, said=0.1)
    assert curve.plot.drawing.count('class="l-accent"') == 2
    assert "agent says" not in curve.plot.drawing


def test_small_shares_fill_the_chart_and_are_said_in_per_cent() -> None:
    curve = draw("rework_ratio", 0.0, 0.1, 0.35)
    assert curve.title == "Rework, last 20 steps"
    assert curve.plot.steps == ("50 %", "25 %", "0")
    assert "pauses over 30 %" in curve.plot.drawing
    assert (curve.figure, curve.tone) == ("35 %", "pause")


def test_spend_is_exact_at_its_end_and_says_when_the_budget_is_used_up() -> None:
    points = [
        replace(point, cost_micros=1_000_000)
        for point in build_points("coherence", *[None] * 8)
    ]
    run = Run(
        status="running", cost_micros_used=8_500_000, cost_micros_limit=10_000_000
    )
    steps = SampledSteps(points=tuple(points), entries=(), every=1)
    (spend,) = build_curves(run, steps, ContinueLimits())
    assert (spend.title, spend.figure) == ("Spend", "$8.50")
    assert spend.beside == "of $10.00, used up at about step 10"
    assert "run budget $10.00" in spend.plot.drawing
    assert 'class="l-proj"' in spend.plot.drawing
    assert spend.plot.rows[-1] == ("8", "$8.50")
    run.status = "completed"
    (spend,) = build_curves(run, steps, ContinueLimits())
    assert 'class="l-proj"' not in spend.plot.drawing
    run.cost_micros_used, run.tokens_used = 0, 800
    (tokens,) = build_curves(run, steps, ContinueLimits())
    assert (tokens.title, tokens.figure) == ("Tokens", "800")


def test_a_long_run_is_thinned_out_and_says_so(
    project: Project,
    bob: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    for number in range(1, 9):
        body = step(number, uncertainty=0.2, coherence=0.9)
        assert agent.post(f"/runs/{run}/steps", json=body).status_code == 201
    row = Run.objects.get(code=run)
    whole = read_steps(row)
    assert (len(whole.points), whole.every, whole.note) == (8, 1, "")
    agent.post(f"/runs/{run}/steps", json=step(9, uncertainty=0.95))
    monkeypatch.setattr(sampling, "POINTS", 4)

    row.refresh_from_db()
    thinned = read_steps(row)

    assert [point.number for point in thinned.points] == [3, 6, 9]
    assert "one of every 3 steps" in thinned.note
    Run.objects.filter(code=run).update(last_step=11)
    row.refresh_from_db()
    held = read_steps(row)
    assert 9 in [point.number for point in held.points], "It paused the run."
    page = open_browser(bob.user).get(f"/p/{project.slug}/runs/{run}/")
    text = page.content.decode()
    for words in ("stops under 0.40", "pauses over 0.80", "one of every 3 steps"):
        assert words in text, words
