"""Reviews from before they had a severity get what a new one would have had."""

from __future__ import annotations

from importlib import import_module

import httpx
from django.apps import apps
from django.db import connection

from accounts.models import Project
from reviews.models import Review
from tests.reviews.floods import ask_to_run
from tests.support.builders import pause_at_once, start_run
from tests.support.people import rule

FILLED = ("severity", "reversibility", "urgency")


def test_old_reviews_are_filled_as_new_ones_are_opened(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    reviews = [
        ask_to_run(agent, "git push --force origin main"),
        ask_to_run(agent, "dropdb production"),
        pause_at_once(agent, start_run(agent)),
    ]
    rule(reviewer, reviews[0], "deny")
    found = Review.objects.filter(project=project).order_by("pk")
    before = list(found.values(*FILLED))
    digests = list(found.values_list("content_digest", "version"))
    found.update(
        severity="low",
        reversibility="read-only",
        urgency=15,
        answer_by=found[0].opened_at,
    )

    with connection.schema_editor() as editor:
        import_module("reviews.migrations.0021_fill_review_order").fill(apps, editor)

    assert list(found.values(*FILLED)) == before
    assert list(found.values_list("content_digest", "version")) == digests
    # What was promised then still holds: it is late when it ends.
    assert all(row.answer_by == row.due_at for row in found)
