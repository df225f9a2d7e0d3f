"""Figures and words from one reading of what is new in the ledger.

To unpack and parse an entry takes longer than to count it or to find its words, and in one
process all of it takes time from agents (bench steps).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from ledger.models import ProjectHead, StatisticsCursor, WordsIndexed
from ledger.models.new_entries import Slice, read_new_entries
from ledger.run_list.indexing import NewWords, get_indexed_position, index_next
from ledger.run_list.words import list_searched_types
from ledger.statistics.counting import (
    SLICE,
    count_project,
    get_counted_position,
    read_head,
    store_figures,
)
from ledger.statistics.registry import list_counted_types
from ledger.statistics.slices import sum_up

# A task ends after this time, and the next one goes on.
SECONDS_LIMIT = 20.0

logger = logging.getLogger(__name__)


def keep_figures_and_words() -> int:
    """All projects, until everything is read or the time is over; returns how many entries
    were read here."""
    end = time.monotonic() + SECONDS_LIMIT
    read = 0
    for project_id in _list_projects_behind():
        try:
            read += _keep_project(project_id, lambda: time.monotonic() >= end)
        except Exception:
            # One of the two may still be kept. The next task tries again, and the other
            # projects do not wait for it.
            logger.exception("The ledger of project %s cannot be read", project_id)
            _keep_apart(project_id, lambda: time.monotonic() >= end)
    return read


def _keep_project(project_id: int, is_over: Callable[[], bool]) -> int:
    """Slice by slice, up to where its ledger ends now: what agents add meanwhile is cheaper
    together, when the next task comes."""
    head = read_head(project_id)
    new = NewWords(project_id=project_id, after=get_indexed_position(project_id))
    counted = get_counted_position(project_id)
    read = 0
    while not is_over():
        after = min(counted, new.upto)
        upto = min(head, after + SLICE)
        if counted != new.upto:  # the other one follows by itself
            upto = min(upto, max(counted, new.upto))
        if upto <= after:
            break
        found = _read(project_id, after, upto)
        if new.upto == after:
            new.add(found)
        if counted == after:
            figures = sum_up(found)
            if not store_figures(project_id=project_id, before=after, figures=figures):
                break  # somebody else is at it
            counted = upto
        read += upto - after
    if read:
        new.store()
    return read


def _read(project_id: int, after: int, upto: int) -> Slice:
    types = {*list_counted_types(), *list_searched_types()}
    return read_new_entries(project_id=project_id, after=after, upto=upto, types=types)


def _keep_apart(project_id: int, is_over: Callable[[], bool]) -> None:
    def index_project() -> None:
        while not is_over() and index_next(project_id):
            pass

    for keep in (
        lambda: count_project(project_id=project_id, is_over=is_over),
        index_project,
    ):
        try:
            keep()
        except Exception:
            logger.exception("Not all of project %s can be kept", project_id)


def _list_projects_behind() -> list[int]:
    counted, indexed = (
        Coalesce(
            Subquery(
                model.objects.filter(project_id=OuterRef("pk")).values("position")
            ),
            0,
        )
        for model in (StatisticsCursor, WordsIndexed)
    )
    heads = ProjectHead.objects.annotate(counted=counted, indexed=indexed)
    behind = Q(position__gt=F("counted")) | Q(position__gt=F("indexed"))
    return list(heads.filter(behind).values_list("project_id", flat=True))
