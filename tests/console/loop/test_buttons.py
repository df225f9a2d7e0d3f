"""The buttons on the pages of the loop: what they do, and for whom."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from guidance.services import get_policy_in_force
from loop.control.clock import run_cycle
from loop.models import Decision, Incident, ProjectLoop, Recommendation
from tests.console.loop.reading import TABS, get_words, words
from tests.loop.history import History
from tests.loop.saying import events
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_the_switch_is_anybodys_to_pull_and_a_managers_to_put_back(
    history: History, alice: Person, bob: Person
) -> None:
    reviewer, manager = open_browser(bob.user), open_browser(alice.user)
    done = reviewer.post(history.path("pause"), {"reason": "Fire <b>drill</b>"})
    assert (done.status_code, done["Location"]) == (302, history.path())
    page = reviewer.get(history.path())
    assert f"by {bob.user.username} just now . Fire <b>drill</b> Decisions" in words(
        page
    )
    assert "Fire <b>" not in page.content.decode()
    assert "A manager can resume it" in words(page)
    assert "Resume" not in words(page)
    refused = reviewer.post(history.path("resume"))
    assert refused.status_code == 403
    assert "You do not have permission" in words(refused)
    run_cycle(history.project.pk)
    newest = Decision.objects.filter(project=history.project).latest("pk")
    assert "Paused paused by" in get_words(
        manager, history.path("decisions", newest.code)
    )
    assert manager.post(history.path("resume")).status_code == 302
    assert "Running" in get_words(manager, history.path())
    for bad, said in (("x" * 4_001, "too long"), ("a\x00b", "cannot be stored")):
        refused = reviewer.post(history.path("pause"), {"reason": bad})
        assert refused.status_code == 422
        assert said in words(refused)
        html = refused.content.decode()
        assert re.search(rf'id="pause-error"[^>]*>[^<]*{said}', html)
        assert f"\n{bad}</textarea>" in html
    assert "Running" in get_words(manager, history.path())


def test_a_manager_wakes_it_and_waits_for_the_decision(
    history: History, alice: Person, bob: Person
) -> None:
    client = open_browser(alice.user)
    address = client.post(history.path("wake"))["Location"]
    assert "Not decided yet" in get_words(client, address)
    assert "every 2s" in client.get(address).content.decode()
    run_cycle(history.project.pk)
    assert "by hand" in get_words(client, address)
    refused = open_browser(bob.user).post(history.path("wake"))
    assert refused.status_code == 403


def test_recommendations_are_adopted_or_dismissed_by_managers(
    history: History, alice: Person, bob: Person
) -> None:
    draft, advice = Recommendation.objects.filter(project=history.project).order_by(
        "pk"
    )
    tab = history.path("recommendations")
    manager, reviewer = open_browser(alice.user), open_browser(bob.user)
    page = get_words(manager, tab)
    assert "Recommendations 2" in page
    assert "Draft ready" in page
    assert "checks.max_resets Before not set After 1" in page
    assert "What to do: Read it <i>together</i>." in page
    assert "Adopt Dismiss" in page
    assert "Adopt Dismiss" not in get_words(reviewer, tab)
    seen = get_policy_in_force(project_id=history.project.pk, name="default").version
    refused = reviewer.post(f"{tab}{draft.code}/adopt/", {"based_on": seen})
    assert refused.status_code == 403
    adopted = manager.post(f"{tab}{draft.code}/adopt/", {"based_on": seen})
    assert adopted["Location"] == f"{tab}#recommendation-{draft.code}"
    draft.refresh_from_db()
    assert draft.adopted_as is not None
    assert '"max_resets":1' in draft.adopted_as.document
    policy = get_policy_in_force(project_id=history.project.pk, name="default")
    assert policy.version == seen
    before = len(events(history.project))
    manager.post(f"{tab}{advice.code}/adopt/")
    assert len(events(history.project)) == before
    again = manager.post(f"{tab}{advice.code}/dismiss/")
    assert "is adopted already" in words(again)
    page = get_words(manager, tab)
    assert "No open recommendations." in page
    assert f"Adopted by {alice.user.username} just now as default, version" in page


def test_outsiders_find_nothing_and_forms_from_elsewhere_are_refused(
    history: History, charlie: Person, bob: Person
) -> None:
    client = open_browser(charlie.user)
    theirs = charlie.user.membership_set.get().project
    recommendation = Recommendation.objects.filter(project=history.project).first()
    incident = Incident.objects.get(project=history.project)
    assert recommendation is not None
    reads = [*TABS, f"decisions/{history.emitted.code}"]
    writes = [
        *("pause", "resume", "wake"),
        f"recommendations/{recommendation.code}/adopt",
        f"incidents/{incident.code}/resolve",
    ]
    assert {client.get(history.path(part)).status_code for part in reads} == {404}
    assert {client.post(history.path(part)).status_code for part in writes} == {404}
    for part in (*reads[-1:], *writes[3:]):
        there = f"/p/{theirs.slug}/loop/{part}/"
        send = client.get if part in reads else client.post
        assert send(there).status_code == 404
    assert {client.get(history.path(part)).status_code for part in writes} == {404}
    assert Client().get(history.path())["Location"].startswith("/sign-in/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(bob.user)
    assert strict.post(history.path("pause")).status_code == 403
    assert not ProjectLoop.objects.get(project=history.project).paused_at
