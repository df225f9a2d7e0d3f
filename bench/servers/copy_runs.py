"""Copy runs with their chains: each copy with a code, times and hashes of its own.

Rows go to PostgreSQL by COPY, to SQLite many in one statement. Positions stay without a
gap. What a copy's entries quote of times and of other runs stays as it was. Copies lie whole
hours back, so that their figures are those of what they were made from (`copy_figures`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import DateTimeField, Field, JSONField, Max, Model, UUIDField

from bench.servers.copy_figures import CopiedFigures, CopiedWords, store_copied
from common.ids import uuid7
from ledger.chain import GENESIS, Link, format_timestamp, hash_link, hash_payload
from ledger.models import FINAL, Entry, ProjectHead, Run, RunOutcome, RunWords
from ledger.statistics.slices import Figures
from reviews.models import Grant, Review, Ruling, RulingFact, ToolCall, Violation

Convert = Callable[[Any], Any]
# In the order in which they refer to each other.
_BESIDE = (Review, Ruling, RulingFact, ToolCall, Grant, RunOutcome, Violation)
_TABLES: tuple[type[Model], ...] = (Run, Entry, *_BESIDE)
_STORED: tuple[type[Model], ...] = (*_TABLES, RunWords)
# What the chain says of a review stays true of its copy.
_UNMOVED = {"due_at", "expires_at"}
RUNS_AT_ONCE = 200
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Template:
    """A run and all rows that belong to it; `codes` are replaced in each copy."""

    run: Run
    entries: Sequence[Entry]
    beside: Sequence[Model]
    codes: Sequence[str]
    figures: CopiedFigures
    words: CopiedWords
    quoting: frozenset[int] = field(default=frozenset())


def load_template(run: Run) -> Template:
    """Its entries must be counted and its words kept already."""
    rows: list[Model] = []
    for model in _BESIDE:
        name = "review__run" if model is Ruling else "run"
        rows += model._default_manager.filter(**{name: run}).order_by("pk")
    codes = [str(row.code) for row in rows if hasattr(row, "code")]
    entries = list(run.entries.order_by("seq"))
    quoting = frozenset(
        entry.seq for entry in entries if any(code in entry.payload for code in codes)
    )
    figures = CopiedFigures.read(run, entries)
    return Template(run, entries, rows, codes, figures, CopiedWords.read(run), quoting)


def copy_runs(
    templates: Sequence[Template], *, count: int, back: timedelta
) -> Iterator[int]:
    """So many copies, the oldest so long ago, the newest now; yields how many are done.

    Runs that are not over are copied to the last day alone.
    """
    over = [each for each in templates if each.run.status in FINAL]
    next_ids = {model: _get_last_id(model) + 1 for model in _TABLES}
    head = ProjectHead.objects.get(pk=templates[0].run.project_id)
    for first in range(0, count, RUNS_AT_ONCE):
        numbers = range(first, min(first + RUNS_AT_ONCE, count))
        rows: dict[type[Model], list[tuple[Any, ...]]] = defaultdict(list)
        figures = Figures()
        for number in numbers:
            ago = round(back / _HOUR * (count - number) / count) * _HOUR
            chosen = templates if ago < _DAY else over
            template = chosen[number % len(chosen)]
            head.position = _copy(template, ago, head.position, next_ids, rows)
            template.figures.add_to(figures, ago=ago)
        with transaction.atomic():
            for model in _STORED:
                _store(model, rows[model])
            head.save()
            store_copied(head, figures, newest_run=next_ids[Run] - 1)
        yield numbers.stop
    _move_sequences()


def _copy(
    template: Template,
    ago: timedelta,
    position: int,
    next_ids: dict[type[Model], int],
    rows: dict[type[Model], list[tuple[Any, ...]]],
) -> int:
    """Add the rows of one copy; returns the position of its last entry."""
    run, code = template.run, uuid7()
    codes = {old: uuid7() for old in template.codes}
    ids: dict[tuple[type[Model], int], int] = {}

    def number(model: type[Model], pk: int) -> int:
        if (model, pk) not in ids:
            ids[model, pk] = next_ids[model]
            next_ids[model] += 1
        return ids[model, pk]

    run_id = number(Run, run.pk)
    prev = GENESIS
    for entry in template.entries:
        payload, hashed = entry.payload, entry.payload_sha256
        if entry.seq in template.quoting:
            for old, new in codes.items():
                payload = payload.replace(old, str(new))
            hashed = hash_payload(payload)
        at = entry.at - ago
        link = Link(
            version=entry.version,
            run=str(code),
            seq=entry.seq,
            at=format_timestamp(at),
            type=entry.type,
            actor=entry.actor,
            payload_sha256=hashed,
            prev_hash=prev,
        )
        position += 1
        before, prev = prev, hash_link(link)
        # In the order of the table's columns: this is the row that is built most often.
        rows[Entry].append(
            (
                *(next_ids[Entry], entry.project_id, run_id, entry.version),
                *(entry.seq, position, at, entry.type, entry.actor, payload),
                *(hashed, before, prev, entry.step_number, entry.decision),
            )
        )
        next_ids[Entry] += 1
    changed = _move_times(run, ago) | {"id": run_id, "code": code, "head_hash": prev}
    rows[Run].append(_build_row(run, changed))
    text = template.words.build_text(code)
    rows[RunWords].append((run_id, run.project_id, text))
    for row in template.beside:
        model = type(row)
        changed = _move_times(row, ago) | _replace_codes(row, codes)
        changed["id"] = number(model, row.pk)
        if hasattr(row, "run_id"):
            changed["run_id"] = run_id
        if isinstance(row, Ruling):
            changed["review_id"] = number(Review, row.review_id)
        rows[model].append(_build_row(row, changed))
    return position


@cache
def _list_fields(model: type[Model]) -> list[Field[Any, Any]]:
    return list(model._meta.concrete_fields)


def _build_row(row: Model, changed: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        changed[each.attname] if each.attname in changed else getattr(row, each.attname)
        for each in _list_fields(type(row))
    )


def _move_times(row: Model, ago: timedelta) -> dict[str, Any]:
    return {
        each.attname: value - ago
        for each in _list_fields(type(row))
        if isinstance(each, DateTimeField)
        and each.attname not in _UNMOVED
        and (value := getattr(row, each.attname)) is not None
    }


def _replace_codes(row: Model, codes: Mapping[str, UUID]) -> dict[str, Any]:
    """Its own code, and those that it refers to others by."""
    return {
        each.attname: codes[str(value)]
        for each in _list_fields(type(row))
        if isinstance(getattr(each, "target_field", each), UUIDField)
        and (value := getattr(row, each.attname)) is not None
        and str(value) in codes
    }


def _store(model: type[Model], rows: Iterable[tuple[Any, ...]]) -> None:
    fields = _list_fields(model)
    names = ", ".join(f'"{each.column}"' for each in fields)
    table = model._meta.db_table
    prepared = (_prepare(row, _list_converters(model)) for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # What entries refer to is there: to look for it takes longer than to store them.
            if model is Entry and _is_superuser():
                cursor.execute("SET LOCAL session_replication_role = replica")
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in prepared:
                    copy.write_row(row)
            if model is Entry and _is_superuser():
                cursor.execute("SET LOCAL session_replication_role = origin")
        else:
            places = ", ".join(["%s"] * len(fields))
            text = f"INSERT INTO {table} ({names}) VALUES ({places})"
            cursor.executemany(text, list(prepared))


@cache
def _is_superuser() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        (answer,) = cursor.fetchone()
    return bool(answer)


@cache
def _list_converters(model: type[Model]) -> Sequence[tuple[int, Convert]]:
    """Of the columns whose values the driver does not take as they are."""
    types: tuple[type[Field[Any, Any]], ...] = (JSONField,)
    if connection.vendor == "sqlite":
        types += (DateTimeField, UUIDField)
    return [
        (place, partial(each.get_db_prep_save, connection=connection))
        for place, each in enumerate(_list_fields(model))
        if isinstance(getattr(each, "target_field", each), types)
    ]


def _prepare(
    row: Sequence[Any], converters: Sequence[tuple[int, Convert]]
) -> Sequence[Any]:
    values = list(row)
    for place, convert in converters:
        values[place] = convert(values[place])
    return values


def _get_last_id(model: type[Model]) -> int:
    last: int = model._default_manager.aggregate(last=Max("pk"))["last"] or 0
    return last


def _move_sequences() -> None:
    """PostgreSQL counts ids apart from the rows; SQLite does not."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for model in _TABLES:
            table = model._meta.db_table
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), "
                f"(SELECT max(id) + 1 FROM {table}), false)"
            )
