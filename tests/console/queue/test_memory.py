"""What was decided before, what is decided, and what came of a ruling: only what is known."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.queue.detail import load_review
from console.queue.memory.delivery import build_delivery
from console.queue.memory.past import build_past_rulings
from reviews.models import Review, RulingFact
from tests.gateway.calls.calls import command
from tests.reviews.floods import ask_to_run
from tests.support.browsing import open_browser
from tests.support.builders import Person, pause_at_once, start_run, step
from tests.support.people import rule


def tell(code: str, project: Project, **later: float) -> str:
    """What is said of a ruling so much later."""
    review = load_review(project_id=project.pk, code=Review.objects.get(code=code).code)
    assert review is not None
    known = build_delivery(review, timezone.now() + timedelta(**later))
    return known.text if known else ""


def test_an_item_says_how_the_same_was_ruled_and_the_list_adds_up(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    for name, action in (("a", "approve"), ("b", "approve"), ("c", "deny")):
        review = ask_to_run(agent, f"rm -rf build/{name}")
        rule(manager, review, action, note=f"Note {name}.")
    rule(manager, ask_to_run(agent, "git push --force origin main"), "deny")
    old = ask_to_run(agent, "rm -rf build/old")
    rule(manager, old, "deny")
    ruled = Review.objects.get(code=old)
    past = timezone.now() - timedelta(days=40)
    RulingFact.objects.filter(ruling__review=ruled).update(at=past)
    waiting = ask_to_run(agent, "rm -rf build/d")
    client, path = open_browser(alice.user), f"/p/{project.slug}"
    page = client.get(f"{path}/queue/{waiting}/").content.decode()
    said = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Ruled 3 times in 30 days: 2 approve, 1 deny" in said
    assert "Note c." in said
    link = re.findall(r'href="([^"]+/rulings/\?alike=[0-9a-f]+)"', page)[0]
    listed = client.get(link).content.decode()
    assert len(re.findall(r'<tr id="ruling-', listed)) == 3
    assert "Ruled" not in re.sub(
        r"<[^>]+>",
        "",
        client.get(
            f"{path}/queue/{pause_at_once(agent, start_run(agent))}/"
        ).content.decode(),
    )


def test_past_rulings_are_counted_from_an_index(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    rule(manager, ask_to_run(agent, "rm -rf build/a"), "deny")
    review = Review.objects.get(code=ask_to_run(agent, "rm -rf build/b"))
    with CaptureQueriesContext(connection) as queries:
        build_past_rulings(review, slug=project.slug, at=timezone.now())
    assert len(queries) <= 3
    if connection.vendor == "sqlite":  # PostgreSQL takes any index of so small a table.
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
        assert "ruling_fact_alike" in plan


def test_what_came_of_an_approved_call_is_told_as_far_as_it_is_known(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run, "rm -rf build/a")
    code = call["review"]["id"]
    assert tell(code, project) == ""
    rule(manager, code, "approve")
    assert "does not wait at the moment" in tell(code, project)
    assert tell(code, project, minutes=3) == "Nothing heard from the agent for 3 m."
    assert "ask again" in tell(code, project, hours=2)
    claimed = agent.post(
        f"/runs/{run}/tool-calls/{call['id']}/claim",
        json={"digest": call["digest"]},
    )
    assert claimed.status_code == 200, claimed.text
    assert tell(code, project) == "Claimed by the agent. No result yet."
    agent.post(f"/runs/{run}/tool-calls/{call['id']}/result", json={"ok": True})
    assert tell(code, project) == "Claimed, and it ran."


def test_an_agent_that_goes_on_has_heard_it(
    project: Project, alice: Person, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    code = pause_at_once(agent, run)
    rule(manager, code, "approve")
    assert "went on" not in tell(code, project)
    assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201
    assert tell(code, project, hours=1) == "Delivered: the agent went on."
    path = f"/p/{project.slug}/queue/{code}/"
    assert "went on" in open_browser(alice.user).get(path).content.decode()


def test_the_tab_of_decided_reviews_is_ones_own_or_everybodys(
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    manager: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    rule(manager, ask_to_run(agent, "rm -rf build/a"), "deny", note="No.")
    rule(reviewer, ask_to_run(agent, "rm -rf build/b"), "approve")
    client, path = open_browser(bob.user), f"/p/{project.slug}/queue/decided/"
    assert f'href="{path}"' in client.get(f"/p/{project.slug}/queue/").content.decode()

    def titles(query: str) -> list[str]:
        page = client.get(f"{path}{query}").content.decode()
        return re.findall(r'class="what">(rm -rf build/.)', page)

    assert titles("") == ["rm -rf build/b"]
    assert titles("?by=all") == ["rm -rf build/b", "rm -rf build/a"]
    assert client.get(f"{path}?cursor=x").status_code == 302
