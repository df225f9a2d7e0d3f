"""Runs by words, which an index of words answers (`ledger.run_list.indexing`).

Runs that are too new for it are looked at themselves: a run is found from the moment it
begins, by what its steps and calls say a few seconds later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.db.models.sql.compiler import SQLCompiler

from common.ids import parse_code
from ledger.models import Run, RunWords, WordsIndexed
from ledger.run_list.scope import Scope
from ledger.run_list.words import list_words, mark_code

_SHORT_CODE = re.compile("(?:r-)?([0-9a-f]{6})")
# Where a word begins, for both databases.
_BEGINNING = r"(^|\W|_)"


class HasWords(Func):
    """Whether the index of words has all of these for a row of `RunWords`."""

    # As the migration made the index: PostgreSQL compares the expressions.
    template = "(array_to_tsvector(string_to_array(%(expressions)s::tsquery)"
    arg_joiner = ", ' ')) @@ "
    output_field = BooleanField()

    def __init__(self, words: list[str]) -> None:
        # Words have letters and digits alone.
        if connection.vendor == "postgresql":
            asked = " & ".join(
                f"('{word}':* | '{mark_code(word)}')"
                if _is_end(word)
                else f"'{word}':*"
                for word in words
            )
            super().__init__(F("text"), Value(asked))
        else:
            asked = " AND ".join(
                f'("{word}"* OR "{mark_code(word)}")' if _is_end(word) else f'"{word}"*'
                for word in words
            )
            super().__init__(F("run_id"), Value(asked))

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **more: Any
    ) -> Any:
        return self.as_sql(
            compiler,
            connection,
            template="%(expressions)s)",
            arg_joiner=" IN (SELECT rowid FROM ledger_runwords_index "
            "WHERE ledger_runwords_index MATCH ",
            **more,
        )


def _is_end(word: str) -> bool:
    """Whether it may be the end of a run's id."""
    return _SHORT_CODE.fullmatch(word) is not None


def filter_by_texts(
    rows: QuerySet[Any], texts: Iterable[str], *, run: str, scope: Scope
) -> QuerySet[Any]:
    """All words, or the beginnings of words, must be there, in any order. A whole id finds
    its run alone; signs alone are looked for in the task. `run` leads from a row to its run.
    """
    words: list[str] = []
    for text in texts:
        code = parse_code(text)
        if code is not None:
            rows = rows.filter(**{f"{run}code": code})
            continue
        short = _SHORT_CODE.fullmatch(text)
        found = [short[1]] if short is not None else list_words(text)
        if not found:
            rows = rows.filter(**{f"{run}task__icontains": text})
        words += found
    if not words:
        return rows
    # One search for the words of all texts: each reads how far the index is.
    words = list(dict.fromkeys(words))
    indexed = _filter_indexed(words, scope).values("run_id")
    every = indexed.union(_filter_new(words, scope).values("pk"), all=True)
    return rows.filter(**{"run_id__in" if run else "pk__in": every})


def _filter_indexed(words: list[str], scope: Scope) -> QuerySet[RunWords]:
    rows = RunWords.objects.filter(project_id__in=scope.project_ids)
    return rows.filter(HasWords(words))


def _filter_new(words: list[str], scope: Scope) -> QuerySet[Run]:
    """Runs that began after the index was last brought up to date."""
    newest = dict(
        WordsIndexed.objects.filter(project_id__in=scope.project_ids).values_list(
            "project_id", "newest_run"
        )
    )
    new = Q()
    for project_id in scope.project_ids:
        new |= Q(project_id=project_id, pk__gt=newest.get(project_id, 0))
    runs = Run.objects.filter(new)
    runs = runs.alias(label_text=Cast("labels", TextField()))
    for word in words:
        start = _BEGINNING + word
        found = (
            Q(task__iregex=start)
            | Q(agent__name__iregex=start)
            | Q(model__iregex=start)
            | Q(label_text__iregex=start)
        )
        if _is_end(word):
            found |= Q(code__endswith=word)
        runs = runs.filter(found)
    return runs
