"""The state of the queue's list, all of which stands in its address."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from console.query.terms import Query
from console.queue.query import parse_query
from reviews.queue.places import SORTS, URGENCY
from reviews.queue.tally import SHOWS

# As people call them.
SORT_NAMES = {URGENCY: "Risky first", "due": "Due first", "age": "Oldest first"}
TAB_NAMES = {
    "all": "All",
    "mine": "Mine",
    "unclaimed": "Unclaimed",
    "overdue": "Past due",
    "snoozed": "Set aside",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """`line` is what was typed, `query` what was understood of it. With `each`
    nothing is folded."""

    show: str
    sort: str
    line: str
    query: Query
    each: str = ""

    def build_query_string(
        self,
        *,
        show: str | None = None,
        sort: str | None = None,
        line: str | None = None,
        each: str | None = None,
        **more: str,
    ) -> str:
        """The same list with something changed; what is usual is left out."""
        show, sort = show or self.show, sort or self.sort
        given = {
            "show": "" if show == "all" else show,
            "sort": "" if sort == URGENCY else sort,
            "q": self.line if line is None else line,
            "each": self.each if each is None else each,
            **more,
        }
        return urlencode({name: text for name, text in given.items() if text})

    @property
    def is_folding(self) -> bool:
        """A list of what is alike shows each."""
        return not self.each and not self.query.list_values("like")

    @property
    def is_filtered(self) -> bool:
        """By more than a tab: what a screen cannot tell of a row by itself."""
        return bool(self.query.terms)


def read_state(given: QueryDict) -> QueueState:
    show, sort = given.get("show", ""), given.get("sort", "")
    line = given.get("q", "").replace("\x00", " ").strip()
    return QueueState(
        show=show if show in SHOWS else "all",
        sort=sort if sort in SORTS else URGENCY,
        line=line,
        query=parse_query(line),
        each="1" if given.get("each") == "1" else "",
    )
