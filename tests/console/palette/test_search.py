"""What the palette finds, and that it ends at the project."""

from __future__ import annotations

from urllib.parse import quote

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from console.palette.search import search
from ledger.run_list.scope import Scope
from tests.gateway.calls.calls import command
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run


def find(person: Person, project: Project, text: str) -> str:
    path = f"/p/{project.slug}/palette/?q={quote(text)}"
    answer = open_browser(person.user).get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_reviews_runs_and_agents_are_found_by_their_words(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, task="Clear the <old> cart")
    call = command(agent, run, "rm -rf cart-cache")
    found = find(bob, project, "cart")
    assert f"/queue/{call['review']['id']}/" in found
    assert f"/runs/{run}/" in found
    assert "Clear the &lt;old&gt; cart" in found
    assert f"/runs/{run}/" in find(bob, project, f"r-{run[-6:]}")
    assert find(bob, project, "nowhere") == find(bob, project, "")


def test_what_is_elsewhere_is_not_found(
    project: Project, alice: Person, charlie: Person, agent: httpx.Client
) -> None:
    start_run(agent, task="Secret plan")
    assert "Secret plan" in find(alice, project, "secret")
    path = f"/p/{project.slug}/palette/?q=secret"
    assert open_browser(charlie.user).get(path).status_code == 404


def test_the_number_of_queries_does_not_grow_with_what_is_found(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    scope = Scope(project_ids=(project.pk,))
    counts = []
    for number in range(2):
        command(agent, start_run(agent, task=f"cart {number}"), f"rm -rf cart-{number}")
        with CaptureQueriesContext(connection) as queries:
            found = search(scope, "cart", slug=project.slug)
        counts.append(len(queries))
        assert [len(group.items) for group in found] == [number + 1] * 2
    assert counts[0] == counts[1]
