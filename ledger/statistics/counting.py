"""Count what is new in the ledger: each entry once, whatever dies, however many count.

Entries have positions without gaps, in the order of their commits. They are read and
summed up without a lock; one short transaction then moves the cursor from exactly where it
stood and adds the sums. Whoever finds the cursor moved throws its sums away.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import transaction
from django.db.models import F, Q

from ledger.models import ProjectHead, StatisticsCursor
from ledger.statistics.slices import read_slice
from ledger.statistics.store import add_figures, move_cursor

# Entries of one transaction: the more, the fewer rows are written, and the longer SQLite's
# only write lock is held (docs/adr/0031).
SLICE = 2_000
# A task ends after this time, and the next one goes on.
SECONDS_LIMIT = 20.0

logger = logging.getLogger(__name__)


def count_new_entries(*, seconds: float = SECONDS_LIMIT) -> int:
    """All projects, until everything is counted or the time is over; returns how many
    entries were counted here."""
    end = time.monotonic() + seconds
    counted = 0
    for project_id in _list_projects_behind():
        try:
            counted += count_project(
                project_id=project_id, is_over=lambda: time.monotonic() >= end
            )
        except Exception:
            # The next task tries again; the other projects do not wait for it.
            logger.exception("The figures of project %s cannot be counted", project_id)
    return counted


def count_project(
    *,
    project_id: int,
    is_over: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """One project, slice by slice, up to where its ledger ends now: what agents add
    meanwhile is cheaper together, when the next task comes."""
    StatisticsCursor.objects.get_or_create(project_id=project_id)
    head = _read_head(project_id)
    counted = 0
    while not is_over():
        number = count_slice(project_id=project_id, head=head)
        if not number:
            break
        counted += number
        if on_progress is not None:
            on_progress(counted)
    return counted


def count_slice(*, project_id: int, size: int = SLICE, head: int | None = None) -> int:
    """The next entries, up to this position of the project's; 0 where there are none, or
    somebody else is counting them."""
    # The head is read first: up to it the ledger is complete.
    head = _read_head(project_id) if head is None else head
    cursors = StatisticsCursor.objects.values_list("position", flat=True)
    before = cursors.get(pk=project_id)
    upto = min(head, before + size)
    if upto <= before:
        return 0
    figures = read_slice(project_id=project_id, after=before, upto=upto)
    with transaction.atomic():
        if not move_cursor(project_id=project_id, before=before, figures=figures):
            return 0
        add_figures(project_id=project_id, figures=figures)
    return figures.entries


def _read_head(project_id: int) -> int:
    return ProjectHead.objects.values_list("position", flat=True).get(pk=project_id)


def _list_projects_behind() -> list[int]:
    behind = Q(counted__isnull=True, position__gt=0) | Q(position__gt=F("counted"))
    heads = ProjectHead.objects.annotate(
        counted=F("project__statistics_cursor__position")
    )
    return list(heads.filter(behind).values_list("project_id", flat=True))
