"""Keep the words of runs: what came into the ledger since the last time is added.

The position says how far it is. Entries are read and their words found without a lock; one
short transaction then moves the position from exactly where it stood, and adds the words.
Whoever finds it moved throws its words away: none is lost, and none is doubled.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from django.db import connection, transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from ledger.models import ProjectHead, Run, RunWords, WordsIndexed
from ledger.models.new_entries import NewEntry, Slice, read_new_entries
from ledger.run_list.words import (
    WORDS_LIMIT,
    is_searched,
    list_run_words,
    list_searched_types,
    list_texts,
    list_words,
)

ENTRIES_AT_ONCE = 2_000
SECONDS = 10.0
_CHANGE = "UPDATE ledger_runwords SET text = %s WHERE run_id = %s"

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


def index_next(project_id: int) -> int:
    """The next entries of one project; returns how many positions of its ledger they
    take, with those whose entries are missing. 0 where somebody else was faster."""
    # The head is read first: up to it the ledger is complete.
    head = ProjectHead.objects.values_list("position", flat=True).get(pk=project_id)
    after = get_indexed_position(project_id)
    upto = min(head, after + ENTRIES_AT_ONCE)
    if upto <= after:
        return 0
    types = list_searched_types()
    found = read_new_entries(project_id=project_id, after=after, upto=upto, types=types)
    return upto - after if add_words(found) else 0


def get_indexed_position(project_id: int) -> int:
    done, _ = WordsIndexed.objects.get_or_create(project_id=project_id)
    return done.position


def add_words(found: Slice) -> bool:
    """False where the words of these entries are there, or those before them are not."""
    new = _find_words(found.entries)
    rows = RunWords.objects.filter(run__in=found.run_ids).values_list("run_id", "text")
    kept = dict(rows)
    missing = Run.objects.filter(pk__in=found.run_ids - kept.keys())
    first = {
        run.pk: _join_words([*list_run_words(run), *new.get(run.pk, ())])
        for run in missing.select_related("agent").defer("memory")
    }
    changed = []
    for run_id, words in new.items():
        if run_id in kept:
            text = _join_words([*kept[run_id].split(" "), *words])
            if text != kept[run_id]:
                changed.append((text, run_id))
    with transaction.atomic():
        if not _move(found):
            return False
        RunWords.objects.bulk_create(
            RunWords(run_id=run_id, project_id=found.project_id, text=text)
            for run_id, text in first.items()
        )
        if changed:
            with connection.cursor() as cursor:
                cursor.executemany(_CHANGE, changed)
    return True


def _move(found: Slice) -> bool:
    """It locks the row."""
    done = WordsIndexed.objects.filter(
        project_id=found.project_id, position=found.after
    )
    newest = done.values_list("newest_run", flat=True).first()
    if newest is None:
        return False
    newest = max(newest, *found.run_ids, 0)
    return bool(done.update(position=found.upto, newest_run=newest))


def _find_words(entries: Iterable[NewEntry]) -> dict[int, list[str]]:
    """By run; the texts of a run are taken apart together, each once."""
    said: dict[int, dict[str, None]] = defaultdict(dict)
    for entry in entries:
        if not is_searched(entry.type):
            continue
        try:
            texts = list_texts(entry.type, entry.payload)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            # It was tampered with: ledger_verify names it.
            logger.warning(
                "Entry %s of run %s has no words", entry.position, entry.run_id
            )
            continue
        said[entry.run_id].update(dict.fromkeys(texts))
    return {run_id: list_words(" ".join(texts)) for run_id, texts in said.items()}


def _join_words(words: Sequence[str]) -> str:
    return " ".join(list(dict.fromkeys(words))[:WORDS_LIMIT])
