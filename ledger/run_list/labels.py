"""Runs by their labels."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, Q, QuerySet, TextField, Value
from django.db.models.sql.compiler import SQLCompiler

from ledger.run_list.filter import Label


class LabelText(Func):
    """A label's value by its name, also where the name reads like a path or index."""

    function = "jsonb_extract_path_text"
    arity = 2
    output_field = TextField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **more: Any
    ) -> Any:
        return self.as_sql(
            compiler,
            connection,
            template="(SELECT atom FROM json_each(%(expressions)s)",
            arg_joiner=") WHERE key = ",
            **more,
        )


def filter_by_labels(
    rows: QuerySet[Any], group: tuple[Label, ...], *, run: str
) -> QuerySet[Any]:
    """Any of these; `run` is what leads from a row to its run."""
    column = f"{run}labels"
    matching = Q()
    for number, (name, value) in enumerate(group):
        if connection.vendor == "postgresql":
            # The index answers these.
            matching |= (
                Q(**{f"{column}__has_key": name})
                if value is None
                else Q(**{f"{column}__contains": {name: value}})
            )
            continue
        alias = f"label_{number}"
        rows = rows.alias(**{alias: LabelText(column, Value(name))})
        matching |= (
            Q(**{f"{alias}__isnull": False}) if value is None else Q(**{alias: value})
        )
    return rows.filter(matching)
