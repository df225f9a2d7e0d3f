"""Notes to the agent on the page of its run: who may write, and what it says of them."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.reviews.agent_notes.telling import list_notes, tell
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_reviewers_write_and_others_do_not(
    agent: httpx.Client, project: Project, bob: Person, dora: Person, charlie: Person
) -> None:
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/tell/"
    assert send(open_browser(dora.user), path, text="x").status_code == 403
    assert send(open_browser(charlie.user), path, text="x").status_code == 404
    browser = open_browser(bob.user)
    assert send(browser, path, text=" ").status_code == 422
    assert send(browser, path, text="x" * 2_001).status_code == 422
    assert send(browser, path, text="x", tags="a" * 40).status_code == 422
    assert send(browser, path, text="Slowly", tags="scope, style").status_code == 204
    (note,) = list_notes(agent, run)
    assert (note["text"], note["tags"]) == ("Slowly", ["scope", "style"])


def test_the_page_says_how_far_each_has_come(
    agent: httpx.Client, project: Project, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    browser, path = open_browser(bob.user), f"/p/{project.slug}/runs/{run}/"
    assert "Nobody has told this agent anything yet" in browser.get(path).text
    tell(reviewer, run, "<script>first</script>", tags=["scope"])
    agent.post(f"/runs/{run}/steps", json=step(1))
    tell(reviewer, run, "second")
    shown = browser.get(path).text
    assert "&lt;script&gt;first" in shown
    assert "Came with the answer to step 1." in shown
    assert "The agent hears it with its next answer." in shown
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    ended = browser.get(path).text
    assert "The run ended before the agent asked anything more." in ended
    assert 'data-dialog="tell"' not in ended
    refused = send(browser, f"{path}tell/", text="Too late")
    assert refused.status_code == 409
