"""The state of the run list, all of which stands in its address."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from console.query.terms import Query
from console.runs.query.parse import parse_query
from ledger.run_list.paging import NEWEST_FIRST, Sort, parse_sort

# What can be left out of the table: its name in the address, and its head.
COLUMNS = {
    "why": "Why it ended",
    "steps": "Steps",
    "tokens": "Tokens",
    "cost": "Cost",
    "time": "Time",
    "started": "Started",
}
# The first word of addresses from before there was a query.
_SHOWS = {
    "running": "status:running",
    "paused": "status:paused",
    "stopped": "status:stopped",
    "finished": "status:final",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListState:
    """`line` is what was typed, `query` what was understood of it."""

    line: str
    query: Query
    sort: Sort
    columns: frozenset[str]

    def build_query_string(
        self,
        *,
        line: str | None = None,
        sort: Sort | None = None,
        cursor: str = "",
    ) -> str:
        """The same list with something changed; what is usual is left out."""
        line = self.line if line is None else line
        sort = sort or self.sort
        given = {
            "q": line,
            "sort": "" if sort == NEWEST_FIRST else str(sort),
            "columns": self.write_columns(),
            "cursor": cursor,
        }
        return urlencode({name: text for name, text in given.items() if text})

    def write_columns(self) -> str:
        if self.columns == frozenset(COLUMNS):
            return ""
        return ",".join(name for name in COLUMNS if name in self.columns) or "none"


def read_state(given: QueryDict) -> ListState:
    words = [
        _SHOWS.get(given.get("show", ""), ""),
        f"parent:{given['parent']}" if given.get("parent") else "",
        given.get("q", "").replace("\x00", " ").strip(),
    ]
    line = " ".join(word for word in words if word)
    return ListState(
        line=line,
        query=parse_query(line),
        sort=parse_sort(given.get("sort", "")) or NEWEST_FIRST,
        columns=_read_columns(
            given.get("columns", "") or ",".join(given.getlist("column"))
        ),
    )


def _read_columns(text: str) -> frozenset[str]:
    if not text:
        return frozenset(COLUMNS)
    return frozenset(text.split(",")) & frozenset(COLUMNS)
