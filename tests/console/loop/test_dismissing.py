"""A manager dismisses a recommendation on the page: it is answered, and nothing else."""

from __future__ import annotations

import json

import pytest

from guidance.services import get_policy_in_force
from ledger.models import Entry
from loop.models import Recommendation
from tests.loop.history import History
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_dismissed_recommendation_is_answered_and_changes_no_policy(
    history: History, alice: Person, bob: Person
) -> None:
    project = history.project
    draft, advice = Recommendation.objects.filter(project=project).order_by("pk")
    tab = history.path("recommendations")
    version = get_policy_in_force(project_id=project.pk, name="default").version
    told = Entry.objects.filter(project=project, type="loop.recommended")
    before = told.count()

    refused = open_browser(bob.user).post(f"{tab}{draft.code}/dismiss/")
    assert refused.status_code == 403
    draft.refresh_from_db()
    assert (draft.ended_by, told.count()) == (None, before)

    manager = open_browser(alice.user)
    for row in (draft, advice):
        answer = manager.post(f"{tab}{row.code}/dismiss/")
        assert answer["Location"] == f"{tab}#recommendation-{row.code}"
        row.refresh_from_db()
        assert (row.state, row.ended_by) == ("dismissed", alice.user)
        entry = told.latest("position")
        payload = json.loads(entry.payload)
        assert entry.actor == alice.principal.actor
        assert payload["recommendation"] == str(row.code)
        assert payload["state"] == "dismissed"

    assert told.count() == before + 2
    assert get_policy_in_force(project_id=project.pk, name="default").version == version
    page = manager.get(tab).content.decode()
    assert "/dismiss/" not in page
    assert f"by {alice.user.username}" in page


def test_a_recommendation_is_not_answered_twice(
    history: History, alice: Person
) -> None:
    row = Recommendation.objects.filter(project=history.project).latest("pk")
    path = f"{history.path('recommendations')}{row.code}/dismiss/"
    manager = open_browser(alice.user)
    assert manager.post(path).status_code == 302
    again = manager.post(path)
    assert again.status_code == 422
    assert "is dismissed already" in again.content.decode()
