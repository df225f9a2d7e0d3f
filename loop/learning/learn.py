"""Learn: once a day, counted facts become recommendations, each only once."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from common.responses import Reply
from guidance.core.lessons import Lesson, list_lessons
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import ProjectHead
from ledger.state import RunState
from ledger.writer import Change
from loop.cycle.act import LOOP_ACTOR
from loop.cycle.drafting import build_draft
from loop.errors import NotDue
from loop.inbox.recommendations import AddRecommendation
from loop.learning.counting import count_facts
from loop.models import OPEN, ProjectLoop, Recommendation
from loop.runs import get_loop, perform

DAY = timedelta(days=1)

logger = logging.getLogger(__name__)


def learn_daily() -> int:
    """For every project with a ledger; returns how many recommendations were made."""
    made = 0
    for project_id in ProjectHead.objects.values_list("project_id", flat=True):
        try:
            made += learn_if_due(project_id)
        except Exception:
            # One project's trouble must not stop the others; tomorrow retries it.
            logger.exception("Learning failed in project %d", project_id)
    return made


def learn_if_due(project_id: int) -> int:
    """The worker that moves `learned_at` learns, so two of them do not both count."""
    at = timezone.now()
    last = get_loop(project_id).learned_at
    if last is not None and last > at - DAY:
        return 0
    same = ProjectLoop.objects.filter(pk=project_id, learned_at=last)
    return learn(project_id) if same.update(learned_at=at) else 0


def learn(project_id: int) -> int:
    """Recommend the lessons of the counted facts that are not recommended yet."""
    policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
    at = timezone.now()
    facts = count_facts(project_id, policy=policy, at=at)
    rests = timedelta(days=policy.policy.loop.learn.days)
    known = _list_known_keys(project_id, since=at - rests)
    return sum(
        _recommend(project_id, lesson, rests=rests)
        for lesson in list_lessons(policy.policy, DEFAULT, facts)
        if lesson.key not in known
    )


def _list_known_keys(project_id: int, *, since: datetime) -> set[str]:
    """Keys of lessons that are open, or were answered in the counted period."""
    rows = Recommendation.objects.filter(
        Q(state__in=OPEN) | Q(ended_at__gt=since), project_id=project_id
    ).exclude(key="")
    return set(rows.values_list("key", flat=True))


def _recommend(project_id: int, lesson: Lesson, *, rests: timedelta) -> bool:
    draft = build_draft(lesson.change, project_id=project_id)
    if draft["problem"] is not None:
        return False  # the policy has just changed: tomorrow learns from the new one
    try:
        perform(
            project_id,
            lambda run: AddLesson(
                run_code=run,
                actor=LOOP_ACTOR,
                title=lesson.title,
                detail=lesson.detail,
                change=lesson.change,
                draft=draft,
                key=lesson.key,
                evidence=lesson.evidence,
                rests=rests,
            ),
        )
    except NotDue:
        return False
    return True


@dataclass(kw_only=True)
class AddLesson(AddRecommendation):
    """Checked again under the lock: the same lesson is recommended once."""

    rests: timedelta
    known: set[str] = field(default_factory=set, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        self.known = _list_known_keys(run.project_id, since=at - self.rests)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        if self.key in self.known:
            raise NotDue("Another worker has recommended it.")
        return super().decide(run, at)
