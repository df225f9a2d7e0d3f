"""The figures of runs that lists are sorted, bounded and summed by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, F, Func, QuerySet, Value
from django.db.models.functions import Coalesce, Greatest, Now
from django.db.models.sql.compiler import SQLCompiler

from ledger.models import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureColumns:
    """Where a figure stands: in a run's own row, and in that of its end."""

    of_run: str
    of_end: str


FIGURES = {
    "cost": FigureColumns(of_run="cost_micros_used", of_end="cost_micros"),
    "tokens": FigureColumns(of_run="tokens_used", of_end="tokens"),
    "steps": FigureColumns(of_run="steps", of_end="steps"),
    "time": FigureColumns(of_run="time_now_ms", of_end="time_ms"),
}


class MillisecondsBetween(Func):
    """From the first moment to the second."""

    template = "CAST(EXTRACT(EPOCH FROM (%(expressions)s)) * 1000 AS bigint)"
    arg_joiner = " - "
    output_field = BigIntegerField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **more: Any
    ) -> Any:
        return self.as_sql(
            compiler,
            connection,
            template="CAST((julianday(%(expressions)s)) * 86400000 AS INTEGER)",
            arg_joiner=") - julianday(",
            **more,
        )


def add_time(runs: QuerySet[Run]) -> QuerySet[Run]:
    """`time_now_ms`: as `ledger.state.compute_time_used` has it now."""
    running = Coalesce(MillisecondsBetween(Now(), F("running_since")), Value(0))
    measured = Coalesce(F("running_ms"), Value(0)) + running
    return runs.annotate(time_now_ms=Greatest(F("time_ms_used"), measured))
