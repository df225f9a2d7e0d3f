"""How long people took to rule: percentiles of periods, and of the hours or days in them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Substr

from common.percentiles import Percentiles
from reviews.models import RulingFact

SHARES = (50, 90)
_QUANTILES = [share / 100 for share in SHARES]
# From a moment up to and without another.
Span = tuple[datetime, datetime]
# Each span reads its own part of the index, in which rulings stand in their order: grouped
# by a computed hour all of them would have to be sorted first.
_OF_SPANS = """
SELECT ranked.count, ranked.took
FROM unnest(%s::timestamptz[], %s::timestamptz[]) WITH ORDINALITY AS span (since, until, place)
CROSS JOIN LATERAL (
  SELECT count(*) AS count, percentile_disc(%s::float8[]) WITHIN GROUP (ORDER BY took_ms) AS took
  FROM reviews_rulingfact
  WHERE project_id = %s AND at >= span.since AND at < span.until
) AS ranked
ORDER BY span.place
"""
# All of them are ranked beside each group: the rows are read once for both.
_BY_COLUMN = """
SELECT {column}, count(*), percentile_disc(%s::float8[]) WITHIN GROUP (ORDER BY took_ms)
FROM reviews_rulingfact
WHERE project_id = %s AND at >= %s AND at < %s
GROUP BY ROLLUP ({column})
"""


def read_times_of_spans(
    *, project_id: int, spans: Sequence[Span]
) -> list[Percentiles | None]:
    """Milliseconds within which half of the rulings of each span came, and nine in ten;
    None for a span without any. No two spans overlap."""
    if connection.vendor != "postgresql":
        return _read_by_place(project_id, spans)
    begins, ends = map(list, zip(*spans, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_OF_SPANS, [begins, ends, _QUANTILES, project_id])
        rows = cursor.fetchall()
    return [Percentiles(count, tuple(took)) if count else None for count, took in rows]


def read_times_by(
    column: Literal["severity", "by_id"], *, project_id: int, span: Span
) -> dict[Any, Percentiles]:
    """The same of one span, for each value of a column, and for all rulings under None."""
    if connection.vendor != "postgresql":
        return _rank_by(column, project_id, span)
    with connection.cursor() as cursor:
        statement = _BY_COLUMN.format(column=column)
        cursor.execute(statement, [_QUANTILES, project_id, *span])
        rows = cursor.fetchall()
    return {
        group: Percentiles(count, tuple(took)) for group, count, took in rows if count
    }


def _rank_by(column: str, project_id: int, span: Span) -> dict[Any, Percentiles]:
    found: dict[Any, list[int]] = defaultdict(list)
    facts = _list_facts(project_id, span[0]).filter(at__lt=span[1])
    for group, took_ms in facts.values_list(column, "took_ms"):
        found[group].append(took_ms)
        found[None].append(took_ms)
    ranked = {group: _rank(times) for group, times in found.items()}
    return {group: times for group, times in ranked.items() if times}


def _read_by_place(project_id: int, spans: Sequence[Span]) -> list[Percentiles | None]:
    """SQLite has moments as text, in UTC, which sorts like them: to cut each row's into
    hours there takes longer than to rank the times here."""
    order = sorted(range(len(spans)), key=lambda place: spans[place][0])
    begins = [_write(spans[place][0]) for place in order]
    ends = [_write(spans[place][1]) for place in order]
    facts = _list_facts(project_id, spans[order[0]][0])
    found: dict[int, list[int]] = defaultdict(list)
    for moment, took_ms in facts.values_list(Substr("at", 1, 26), "took_ms"):
        place = bisect_right(begins, moment) - 1
        if place >= 0 and moment < ends[place]:
            found[order[place]].append(took_ms)
    return [_rank(found.get(place)) for place in range(len(spans))]


def _write(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _rank(times: list[int] | None) -> Percentiles | None:
    if not times:
        return None
    times.sort()
    ranks = [(len(times) * share + 99) // 100 for share in SHARES]
    return Percentiles(len(times), tuple(times[rank - 1] for rank in ranks))


def _list_facts(project_id: int, since: datetime) -> QuerySet[RulingFact]:
    return RulingFact.objects.filter(project_id=project_id, at__gte=since)
