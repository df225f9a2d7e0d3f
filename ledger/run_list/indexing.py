"""Keep the words of runs: what came into the ledger since the last time is added.

The position says how far it is. It moves in the transaction that adds the words, and to add
a word again changes nothing: none is lost, and none is doubled.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Iterable

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ledger.models import Entry, ProjectHead, Run, RunWords, WordsIndexed
from ledger.models.fields import read_as_kept
from ledger.models.packing import unpack_text
from ledger.run_list.words import (
    WORDS_LIMIT,
    list_run_words,
    list_searched_types,
    list_words,
    read_entry_text,
)

ENTRIES_AT_ONCE = 2_000
SECONDS = 10.0

logger = logging.getLogger(__name__)


def index_words() -> int:
    """All projects in turn, some entries of each, as long as there is time; returns how
    many entries were read."""
    end = time.monotonic() + SECONDS
    count = 0
    done = WordsIndexed.objects.filter(project_id=OuterRef("project_id"))
    behind = ProjectHead.objects.annotate(
        done=Coalesce(Subquery(done.values("position")), 0)
    ).filter(position__gt=F("done"))
    waiting = deque(behind.values_list("project_id", flat=True))
    while waiting and time.monotonic() < end:
        project_id = waiting.popleft()
        try:
            read = index_next(project_id)
        except Exception:
            # The next task tries again; the other projects do not wait for it.
            logger.exception("The words of project %s cannot be kept", project_id)
            continue
        count += read
        if read >= ENTRIES_AT_ONCE:
            # Otherwise only what came meanwhile is left, for the next task.
            waiting.append(project_id)
    return count


@transaction.atomic
def index_next(project_id: int) -> int:
    """The next entries of one project; returns how many positions of its ledger they
    take, with those whose entries are missing."""
    WordsIndexed.objects.get_or_create(project_id=project_id)
    # Two workers take turns; on SQLite only one writes at a time anyway.
    done = WordsIndexed.objects.select_for_update().get(project_id=project_id)
    # The head is read first: up to it the ledger is complete.
    head = ProjectHead.objects.values_list("position", flat=True).get(pk=project_id)
    upto = min(head, done.position + ENTRIES_AT_ONCE)
    count = upto - done.position
    if count <= 0:
        return 0
    entries = Entry.objects.filter(
        project_id=project_id, position__gt=done.position, position__lte=upto
    )
    run_ids = set(entries.values_list("run_id", flat=True).distinct())
    _add_words(project_id, entries, run_ids)
    done.newest_run = max(done.newest_run, *run_ids, 0)
    done.position = upto
    done.save()
    return count


def _add_words(project_id: int, entries: QuerySet[Entry], run_ids: set[int]) -> None:
    new = _read_words(entries)
    kept = {row.run_id: row for row in RunWords.objects.filter(run__in=run_ids)}
    missing = Run.objects.filter(pk__in=run_ids - kept.keys()).select_related("agent")
    first = {run.pk: list_run_words(run) for run in missing.defer("memory")}
    RunWords.objects.bulk_create(
        RunWords(
            run_id=run_id,
            project_id=project_id,
            text=_join_words([*words, *new.get(run_id, ())]),
        )
        for run_id, words in first.items()
    )
    changed = []
    for run_id, row in kept.items():
        text = _join_words([*row.text.split(" "), *new.get(run_id, ())])
        if text != row.text:
            row.text = text
            changed.append(row)
    RunWords.objects.bulk_update(changed, ["text"])


def _read_words(entries: QuerySet[Entry]) -> dict[int, list[str]]:
    """By run; the texts of a run are taken apart together."""
    texts: dict[int, list[str]] = defaultdict(list)
    searched = entries.filter(type__in=list_searched_types()).order_by("position")
    columns = ("run_id", "position", "type", read_as_kept("payload"))
    for run_id, position, kind, kept in searched.values_list(*columns):
        try:
            texts[run_id].append(read_entry_text(kind, unpack_text(kept)))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            # It was tampered with: ledger_verify names it.
            logger.warning("Entry %s of run %s has no words", position, run_id)
    return {run_id: list_words(" ".join(said)) for run_id, said in texts.items()}


def _join_words(words: Iterable[str]) -> str:
    return " ".join(list(dict.fromkeys(words))[:WORDS_LIMIT])
