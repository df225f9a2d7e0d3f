"""Counts of rulings and of ended runs, which lessons are made from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from accounts.models import SYSTEM_AGENTS
from guidance.core.lessons import (
    GATE_SKIPPED,
    LOOP_APPROVED,
    PAUSE_APPROVED,
    RULE_APPROVED,
    RUNS_FAILED,
    Counted,
)
from guidance.selectors import LoadedPolicy
from ledger.models import FINAL, Run
from reviews.models import Kind, Review, ReviewState
from reviews.queue.asking_rule import get_asking_rule
from reviews.queue.gate_counts import count_gates
from safetext import make_visible_line

# The newest ones: more would say the same, and take longer to read.
REVIEWS_LIMIT = 2_000
_AT_A_TIME = 100
_NAME_LIMIT = 100


def count_facts(
    project_id: int, *, policy: LoadedPolicy, at: datetime
) -> list[Counted]:
    """Facts of the period the policy names; what never happened is left out."""
    since = at - timedelta(days=policy.policy.loop.learn.days)
    return [
        *_count_gates(project_id, policy=policy, at=at),
        *_count_rulings(project_id, since=since),
        *_count_runs(project_id, since=since),
    ]


def _count_gates(
    project_id: int, *, policy: LoadedPolicy, at: datetime
) -> Iterator[Counted]:
    """How often a person skipped a gate that had used up its attempts."""
    days = policy.policy.loop.learn.days
    counts = count_gates(project_id=project_id, policy=policy, days=days, at=at)
    for item in (*counts.policy, *counts.others):
        if item.count.exhausted:
            yield Counted(
                subject=GATE_SKIPPED,
                name=item.gate.slug,
                times=item.count.skipped,
                of=item.count.exhausted,
            )


def _count_rulings(project_id: int, *, since: datetime) -> Iterator[Counted]:
    """How often people approved, of all their rulings on the same subject."""
    reviews = (
        Review.objects.filter(
            project_id=project_id,
            kind__in=_ASKED,
            state=ReviewState.RULED,
            closed_at__gte=since,
        )
        .order_by("-pk")
        .values_list("kind", "content", "ruling__action")[:REVIEWS_LIMIT]
    )
    ruled: Counter[tuple[str, str]] = Counter()
    approved: Counter[tuple[str, str]] = Counter()
    for kind, text, action in reviews.iterator(chunk_size=_AT_A_TIME):
        subject, name_of = _ASKED[Kind(kind)]
        about = subject, _shorten_name(name_of(json.loads(text)))
        ruled[about] += 1
        approved[about] += action == "approve"
    for (subject, name), of in sorted(ruled.items()):
        yield Counted(subject=subject, name=name, times=approved[subject, name], of=of)


def _count_runs(project_id: int, *, since: datetime) -> Iterator[Counted]:
    ends = (
        Run.objects.filter(
            project_id=project_id, status__in=FINAL, finished_at__gte=since
        )
        .exclude(intent__in=SYSTEM_AGENTS)
        .values_list("agent__name", "status")
        .annotate(count=Count("pk"))
    )
    ended: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for agent, status, count in ends:
        ended[_shorten_name(agent)] += count
        failed[_shorten_name(agent)] += count if status != "completed" else 0
    for name, of in sorted(ended.items()):
        yield Counted(subject=RUNS_FAILED, name=name, times=failed[name], of=of)


def _get_pausing_gate(content: Mapping[str, Any]) -> str:
    findings = content["decision"]["findings"]
    return next(str(f["gate"]) for f in findings if f["decision"] == "pause")


def _get_loop_name(content: Mapping[str, Any]) -> str:
    return str(content["loop"])


def _shorten_name(text: str) -> str:
    return make_visible_line(text, limit=_NAME_LIMIT)


_ASKED = {
    Kind.CONFIRMATION: (RULE_APPROVED, get_asking_rule),
    Kind.PAUSE: (PAUSE_APPROVED, _get_pausing_gate),
    Kind.LOOP_ACTION: (LOOP_APPROVED, _get_loop_name),
}
