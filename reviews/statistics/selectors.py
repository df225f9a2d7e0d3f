"""Reads on reviews of a period: how many, what was ruled, and how long it took."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import Any, NamedTuple

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet

from common.percentiles import read_percentiles
from ledger.run_list.labels import filter_by_labels
from ledger.statistics.periods import Scope
from ledger.statistics.selectors import read_counts
from reviews.models import Review, ReviewState
from reviews.statistics.counts import EXPIRED, OPENED, RULE_COUNTS, RULED

_TOOK = ExpressionWrapper(F("closed_at") - F("opened_at"), output_field=DurationField())


class TimeToRuling(NamedTuple):
    """How long reviews were open until a person ruled: half of them, and so on."""

    rulings: int
    p50: timedelta
    p90: timedelta
    p99: timedelta


class KindCounts(NamedTuple):
    opened: int
    ruled: dict[str, int]
    expired: int


def read_time_to_ruling(*, scope: Scope) -> TimeToRuling | None:
    """Of reviews that were ruled on in the period; None where there was none."""
    return _read_times(scope).get(None)


def read_time_to_ruling_by_kind(*, scope: Scope) -> dict[str, TimeToRuling]:
    return dict(sorted(_read_times(scope, by="kind").items()))


def _read_times(scope: Scope, *, by: str | None = None) -> dict[Any, TimeToRuling]:
    ruled = _list_ruled(scope).annotate(took=_TOOK)
    found = read_percentiles(ruled, of="took", shares=(50, 90, 99), by=by)
    return {
        group: TimeToRuling(count, *values) for group, (count, values) in found.items()
    }


def read_review_counts(*, scope: Scope) -> dict[str, KindCounts]:
    """By kind of review."""
    opened = read_counts(scope=scope, kind=OPENED)
    expired = read_counts(scope=scope, kind=EXPIRED)
    ruled: dict[str, dict[str, int]] = defaultdict(dict)
    for key, count in read_counts(scope=scope, kind=RULED).items():
        kind, _colon, action = key.partition(":")
        ruled[kind][action] = count
    kinds = sorted({*opened, *expired, *ruled})
    return {
        kind: KindCounts(opened.get(kind, 0), ruled.get(kind, {}), expired.get(kind, 0))
        for kind in kinds
    }


def read_rule_counts(*, scope: Scope) -> dict[str, dict[str, int]]:
    """By the rule that made a person be asked: asked, approved, amended, denied, aborted
    and expired; those asked most often first."""
    rules: dict[str, dict[str, int]] = {}
    names = [kind.removeprefix("rule_") for kind in RULE_COUNTS]
    for kind, name in zip(RULE_COUNTS, names, strict=True):
        for rule, count in read_counts(scope=scope, kind=kind).items():
            rules.setdefault(rule, dict.fromkeys(names, 0))[name] = count
    return rules


def _list_ruled(scope: Scope) -> QuerySet[Review]:
    found = Review.objects.filter(
        project_id=scope.project_id,
        state=ReviewState.RULED,
        closed_at__gte=scope.begin,
        closed_at__lt=scope.end,
    )
    for name, wanted in (
        ("run__agent__name", scope.agent),
        ("run__model", scope.model),
    ):
        if wanted is not None:
            found = found.filter(**{name: wanted})
    if scope.label is not None:
        found = filter_by_labels(found, (scope.label,), run="run__")
    return found
