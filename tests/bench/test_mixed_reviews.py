"""The queue that is measured holds every kind and severity, and some of it is alike."""

from __future__ import annotations

import asyncio

from accounts.models import Project
from bench.servers.fill_database import lift_limits
from bench.servers.mixed_reviews import MIXED_POLICY, open_mixed_reviews
from reviews.models import Review
from reviews.queue.folds import find_folds
from reviews.queue.order import Queue
from tests.support.builders import Robot

COUNT = 60


def test_a_measured_queue_is_mixed(project: Project, robo: Robot) -> None:
    lift_limits(project.pk, **MIXED_POLICY)
    asyncio.run(open_mixed_reviews([robo.principal], count=COUNT))
    reviews = Review.objects.filter(project=project)
    kinds = set(reviews.values_list("kind", flat=True))
    assert kinds == {"pause", "request", "question", "confirmation"}
    severities = set(reviews.values_list("severity", flat=True))
    assert severities == {"low", "medium", "high", "critical"}
    queue = Queue(project_id=project.pk, viewer_id=0)
    folds = find_folds(queue.list_reviews(), sort=queue.sort)
    assert 0 < len(list(folds)) < COUNT
