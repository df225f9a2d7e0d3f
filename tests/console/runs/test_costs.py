"""Whose word the cost of a run is: its page says it, and what the judge cost beside it."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from reviews.models import ModelRequest
from reviews.row_checks import compare_with_chain
from tests.console.loop.reading import get_words
from tests.gateway.checks.test_judge_flows import GATES, PASS, TESTED, WORK, ask
from tests.gateway.llm.models import hangs_up, judges
from tests.loop.thinking import thinking
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def claim_pass(agent: httpx.Client, run: str, check: str) -> None:
    path = f"/runs/{run}/gate-checks/{check}/verdicts"
    told = agent.post(path, json={"text": PASS, "output": WORK})
    assert told.status_code == 200, told.text


def test_a_cost_that_only_the_agent_tells_is_marked_so(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    client, run = open_browser(bob.user), start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/"
    assert "by the agent" not in get_words(client, path)
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert "Cost $0.00 of $10.00 The agent reports no cost." in get_words(client, path)
    agent.post(f"/runs/{run}/steps", json=step(2, cost_usd="0.40"))
    page = get_words(client, path)
    assert "Cost $0.40 of $10.00 Cost as reported by the agent." in page


def test_what_the_judge_cost_stands_apart_and_counts_for_the_day(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    make_policy("judged", project=project, gates=GATES)
    client, run = open_browser(bob.user), start_run(agent, policy="judged")
    check = ask(agent, run, "judged")["id"]
    with thinking("openai", hangs_up):
        claim_pass(agent, run, check)
    with thinking("openai", judges("openai", met=[TESTED]), prices=None):
        claim_pass(agent, run, check)
    agent.post(f"/runs/{run}/steps", json=step(1, cost_usd="0.40"))
    page = get_words(client, f"/p/{project.slug}/runs/{run}/")
    asked = ModelRequest.objects.get(run__code=run, cost_micros__isnull=False)
    assert asked.cost_micros is not None
    dear = f"${asked.cost_micros / 1_000_000:.2f}"
    said = f"{dear} for 2 questions to the judge, 1 without a price. $0.40 of the cost"
    assert f"{said} as reported by the agent." in page
    assert "Judge asked stand-in-1 no price is known" in page
    assert "the connection failed" in page
    loop = get_words(client, f"/p/{project.slug}/loop/")
    assert f"Judge today {dear} 2 questions, 1 without a price" in loop

    row = Run.objects.get(code=run)
    assert list(compare_with_chain([row.pk])) == []
    ModelRequest.objects.filter(pk=asked.pk).update(cost_micros=1)
    (mismatch,) = compare_with_chain([row.pk])
    assert "cost_micros" in mismatch.reason
