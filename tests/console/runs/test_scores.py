"""What an agent says of itself stands beside what was seen, on the page and the review."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.runs.scores import list_overruled, list_scores
from tests.gateway.calls.calls import command
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step
from tests.support.rows import each_row

BOTH = "says 1.00, we see 0.60"


def get_text(person: Person, path: str) -> str:
    return " ".join(open_browser(person.user).get(path).content.decode().split())


@pytest.fixture
def rosy(agent: httpx.Client) -> tuple[str, str]:
    """A run that says 1.00 while its calls are blocked, and a call of it that waits."""
    run = start_run(agent)
    for number in range(1, 6):
        command(agent, run, "echo AKIA" + "QYLPMN5HHHFPZAM2")
        agent.post(f"/runs/{run}/steps", json=step(number, coherence=1.0))
    call = command(agent, run)
    return run, call["review"]["id"]


@pytest.mark.once("looks at pages, whatever database is behind them")
def test_both_scores_stand_on_the_page_and_the_review(
    project: Project, alice: Person, rosy: tuple[str, str]
) -> None:
    run, review = rosy
    page = get_text(alice, f"/p/{project.slug}/runs/{run}/")

    assert f"Coherence: {BOTH}, the lower counts." in page
    # The line of the step, where no gate has said it.
    assert f"Coherence: {BOTH}" in page
    detail = get_text(alice, f"/p/{project.slug}/queue/{review}/")
    assert f"Coherence: {BOTH}, the lower counts." in detail


def build_metrics(said: float | None, seen: float | None) -> dict[str, Any]:
    known = [each for each in (said, seen) if each is not None]
    counts = min(known) if known else None
    source = "reported" if counts == said else "computed"
    return {
        "coherence": counts,
        "coherence_reported": said,
        "coherence_computed": seen,
        "coherence_source": source if known else "unknown",
        "uncertainty": None,
    }


@each_row(
    ("said", "seen", "shown", "overruled"),
    [
        (1.0, 0.31, ("0.31", "we see", "says 1.00, we see 0.31"), True),
        (0.2, 0.9, ("0.20", "it says", "says 0.20, we see 0.90"), False),
        (0.9, 0.9, ("0.90", "it says", ""), False),
        (0.9, 0.897, ("0.90", "we see", ""), False),
        (0.9, None, ("0.90", "it says", ""), False),
        (None, 0.5, ("0.50", "we see", ""), False),
    ],
)
def test_how_a_score_reads(
    said: float | None, seen: float | None, shown: tuple[str, str, str], overruled: bool
) -> None:
    metrics = build_metrics(said, seen)
    (score,) = list_scores(metrics)
    value, origin, both = shown
    assert (score.value, score.origin) == (value, origin)
    assert score.both == (f"Coherence: {both}, the lower counts." if both else "")
    assert score.overruled is overruled
    lines = list(list_overruled(metrics, said=frozenset()))
    assert lines == (["Coherence: says 1.00, we see 0.31"] if overruled else [])
    assert list(list_overruled(metrics, said=frozenset({"coherence"}))) == []


def test_what_is_not_known_is_not_shown() -> None:
    assert list_scores(build_metrics(None, None)) == ()
    # A step of the first version has only the score that counted.
    old = {"coherence": 0.5, "coherence_source": "reported", "uncertainty": None}
    (score,) = list_scores(old)
    assert (score.value, score.origin) == ("0.50", "it says")
    assert list(list_overruled(old, said=frozenset())) == []
