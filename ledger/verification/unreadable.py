"""What a stored row raises that was edited past us.

Whoever checks rows names the one that cannot be read, and goes on with the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import DataError, OperationalError
from django.db.models import QuerySet

from ledger.models import Entry

CHUNK = 1000
# A value that fits no type, text that is no JSON, JSON of another form or too deep.
_RAISED = (
    ArithmeticError,
    AttributeError,
    DataError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)


def refuse_other(error: Exception) -> None:
    """Raise again what does not come from the row: a lost database breaks no run."""
    not_text = isinstance(error, OperationalError) and "decode" in str(error)
    if not (not_text or isinstance(error, _RAISED)):
        raise error


def read_entries(entries: QuerySet[Entry]) -> Iterator[Entry]:
    """Many at a time; near one that cannot be read one by one, so that all before it
    are seen before it raises."""
    seq = 0
    try:
        for entry in entries.iterator(chunk_size=CHUNK):
            yield entry
            seq = entry.seq
    except Exception as error:
        refuse_other(error)
        for pk in list(entries.filter(seq__gt=seq).values_list("pk", flat=True)):
            yield entries.get(pk=pk)


def describe(error: Exception) -> str:
    return f"it cannot be read ({type(error).__name__}: {error})"
