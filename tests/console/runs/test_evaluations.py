"""How a finished run was judged, on its page and in the list."""

from __future__ import annotations

import re

import httpx
import pytest

from accounts.models import Project
from guidance.core.outcomes import EVALUATORS
from tests.gateway.calls.calls import command, settle
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_judged_run_shows_every_evaluator_and_the_list_marks_it(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    make_policy("lax", project=project, tools={"rules": {"delete-*": "warn"}})
    run = start_run(agent, policy="lax")
    settle(agent, run, command(agent, run, "rm -rf '/srv/<b>'"))
    agent.post(
        f"/runs/{run}/finish",
        json={"outcome": "completed", "tests": {"ran": True, "passed": 9}},
    )
    client = open_browser(alice.user)

    page = client.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    evals = page[page.index('class="evals"') : page.index('id="run-charts"')]
    assert re.findall(r"<code>([\w-]+)</code>", evals) == list(EVALUATORS)
    assert re.findall(r'class="sr">([\w ]+)<', evals) == [
        *("passed", "not known", "passed", "failed", "not known")
    ]
    assert "ran without approval: rm -rf &#x27;/srv/&lt;b&gt;&#x27;" in evals
    assert re.findall(r'chip line">(\w+)<', evals) == ["reported", "seen", "seen"]
    assert "1 ran, 0 blocked" in evals
    assert "Failed." in page

    listed = client.get(f"/p/{project.slug}/runs/").content.decode()
    assert 'class="why" title="forbidden-commands: ' in listed


def test_a_run_that_goes_on_shows_no_evaluator(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    page = open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/")
    assert 'id="run-evals"' in page.content.decode()
    assert 'class="evals"' not in page.content.decode()
