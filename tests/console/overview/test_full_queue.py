"""A queue that is full: said before all else, on the queue and on the overview."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, make_robot, start_run
from tests.support.live import Live

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_the_queue_says_first_that_it_is_full_and_folds_the_rest(
    live: Live, agent: httpx.Client, project: Project, alice: Person, bob: Person
) -> None:
    caps = {"agent": 4, "project": 10, "critical_share": 0.2}
    make_policy("default", project=project, caps={"open_reviews": caps})
    with client_for(live, make_robot("rita", project=project)) as other:
        for client in (agent, other):
            for _ in range(4):
                command(client, start_run(client))
    shown = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()

    start = shown.index('id="floods"')
    notices = shown[start : shown.index("</ul>\n    </details>", start)]
    assert "<b>Queue full.</b> 8 of 10 open reviews." in notices
    assert "Only critical ones are still taken, 2 more" in notices
    assert notices.index("Queue full") < notices.index("<details")
    assert "2 agents are near a limit too" in notices
    assert notices.index("<details") < notices.index("<b>rita</b> has 4 open reviews")
    assert f"/p/{project.slug}/agents/" in notices
    overview = open_browser(alice.user).get(f"/p/{project.slug}/overview/")
    page = overview.content.decode()
    needs = page[page.index('class="now"') :]
    assert needs.index("Queue full") < needs.index("</li>")
    assert "8 of 10 open reviews: rita 4, robo 4" in needs
