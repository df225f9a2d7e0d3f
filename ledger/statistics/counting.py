"""Count what is new in the ledger: each entry once, whatever dies, however many count.

Entries have positions without gaps, in the order of their commits. They are read and
summed up without a lock; one short transaction then moves the cursor from exactly where it
stood and adds the sums. Whoever finds the cursor moved throws its sums away.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from ledger.models import ProjectHead, StatisticsCursor
from ledger.statistics.slices import Figures, read_slice
from ledger.statistics.store import add_figures, move_cursor

# Entries of one transaction: the more, the fewer rows are written, and the longer SQLite's
# only write lock is held (docs/adr/0031).
SLICE = 2_000


def count_project(
    *,
    project_id: int,
    is_over: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """One project, slice by slice, up to where its ledger ends now: what agents add
    meanwhile is cheaper together, when the next task comes."""
    head = read_head(project_id)
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
    head = read_head(project_id) if head is None else head
    before = get_counted_position(project_id)
    upto = min(head, before + size)
    if upto <= before:
        return 0
    figures = read_slice(project_id=project_id, after=before, upto=upto)
    stored = store_figures(project_id=project_id, before=before, figures=figures)
    return figures.entries if stored else 0


def store_figures(*, project_id: int, before: int, figures: Figures) -> bool:
    """False where somebody else has counted these entries."""
    with transaction.atomic():
        if not move_cursor(project_id=project_id, before=before, figures=figures):
            return False
        add_figures(project_id=project_id, figures=figures)
    return True


def get_counted_position(project_id: int) -> int:
    cursor, _ = StatisticsCursor.objects.get_or_create(project_id=project_id)
    return cursor.position


def read_head(project_id: int) -> int:
    return ProjectHead.objects.values_list("position", flat=True).get(pk=project_id)
