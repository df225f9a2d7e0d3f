"""How long people took to rule, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from common.percentiles import Percentiles
from console.overview.period import Period
from reviews.past_rulings.times import read_times_by, read_times_of_spans


class Wait(NamedTuple):
    """Of so many rulings half came within `p50` seconds and nine of ten within `p90`."""

    rulings: int
    p50: float
    p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """None where there was no ruling."""

    whole: Wait | None
    before: Wait | None
    buckets: list[Wait | None]
    severities: Mapping[str, Wait]


def read_waits(*, project_id: int, period: Period) -> Waits:
    earlier = period.before
    buckets = [(begin, begin + period.size) for begin in period.buckets]
    before, *found = read_times_of_spans(
        project_id=project_id, spans=[(earlier.since, earlier.until), *buckets]
    )
    now = period.since, period.until
    times = read_times_by("severity", project_id=project_id, span=now)
    whole = times.get(None)
    return Waits(
        whole=_build(whole) if whole else None,
        before=_build(before) if before else None,
        buckets=[_build(each) if each else None for each in found],
        severities={name: _build(each) for name, each in times.items() if name},
    )


def _build(found: Percentiles) -> Wait:
    return Wait(found.rows, *(took_ms / 1000 for took_ms in found.values))
