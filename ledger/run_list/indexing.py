"""Keep the words of runs: what came into the ledger since the last time is added.

The position says how far it is. Entries are read and their words found without a lock; one
short transaction then moves the position from exactly where it stood, and adds the words.
Whoever finds it moved throws its words away: none is lost, and none is doubled.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Iterable

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
    found = read_new_entries(
        project_id=project_id, after=after, upto=upto, types=list_searched_types()
    )
    new = NewWords(project_id=project_id, after=after)
    new.add(found)
    return upto - after if new.store() else 0


def get_indexed_position(project_id: int) -> int:
    done, _ = WordsIndexed.objects.get_or_create(project_id=project_id)
    return done.position


class NewWords:
    """Of entries behind `after`, slice by slice. They are stored together: the index of
    words is written anew for all words of a run, however few are new (bench steps)."""

    def __init__(self, *, project_id: int, after: int) -> None:
        self._project_id = project_id
        self._after = after
        self._words: dict[int, dict[str, None]] = defaultdict(dict)
        self.upto = after

    def add(self, found: Slice) -> None:
        """The slice that follows."""
        assert found.after == self.upto
        for run_id in found.run_ids:
            self._words[run_id].update(())
        for run_id, words in _find_words(found.entries).items():
            self._words[run_id].update(dict.fromkeys(words))
        self.upto = found.upto

    def store(self) -> bool:
        """False where somebody else was faster."""
        run_ids = self._words.keys()
        rows = RunWords.objects.filter(run__in=run_ids).values_list("run_id", "text")
        kept = dict(rows)
        missing = Run.objects.filter(pk__in=run_ids - kept.keys())
        first = [
            self._build(run.pk, list_run_words(run))
            for run in missing.select_related("agent").defer("memory")
        ]
        texts = {each: self._build(each, kept[each].split(" ")).text for each in kept}
        changed = [(texts[each], each) for each in kept if texts[each] != kept[each]]
        with transaction.atomic():
            if not self._move():
                return False
            RunWords.objects.bulk_create(first)
            if changed:
                with connection.cursor() as cursor:
                    cursor.executemany(_CHANGE, changed)
        return True

    def _build(self, run_id: int, words: Iterable[str]) -> RunWords:
        every = dict.fromkeys((*words, *self._words[run_id]))
        text = " ".join(list(every)[:WORDS_LIMIT])
        return RunWords(run_id=run_id, project_id=self._project_id, text=text)

    def _move(self) -> bool:
        """From exactly where it stood. It locks the row."""
        done = WordsIndexed.objects.filter(
            project_id=self._project_id, position=self._after
        )
        newest = done.values_list("newest_run", flat=True).first()
        if newest is None:
            return False
        newest = max(newest, *self._words, 0)
        return bool(done.update(position=self.upto, newest_run=newest))


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
