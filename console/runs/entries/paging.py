"""Which entries of a run a page of its timeline shows, as its address says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from console.format import format_count
from console.runs.sentences.kinds import KINDS
from ledger.models import Entry, Run
from ledger.models.packing import PACKED

PAGE = 100
SEARCH_LIMIT = 200
COUNTED_ENTRIES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFilter:
    """`before` and `after` are entries by their number in the run; at most one is given."""

    show: str = ""
    search: str = ""
    oldest_first: bool = False
    before: int | None = None
    after: int | None = None

    @property
    def is_live(self) -> bool:
        """Whether new entries have their place on this page."""
        plain = not self.search and not self.oldest_first
        return plain and self.before is None and self.after is None

    def build_query(self, **changed: object) -> str:
        """The address with something changed; from its first page unless told otherwise."""
        asked = {
            "show": self.show,
            "q": self.search,
            "order": "oldest" if self.oldest_first else "",
            **changed,
        }
        return urlencode({name: value for name, value in asked.items() if value})


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelinePage:
    """`newer` and `older` are the queries of the pages beside this one, empty at the ends."""

    entries: list[Entry]
    newer: str
    older: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterLink:
    name: str
    word: str
    count: str
    query: str
    chosen: bool


def parse_filter(query: QueryDict) -> TimelineFilter:
    """What is not understood is left out: an old link still shows the run."""
    show = query.get("show", "")
    before, after = _parse_number(query, "before"), _parse_number(query, "after")
    return TimelineFilter(
        show=show if show in KINDS else "",
        search=query.get("q", "").replace("\x00", "").strip()[:SEARCH_LIMIT],
        oldest_first=query.get("order") == "oldest",
        before=before,
        after=None if before is not None else after,
    )


def _parse_number(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def list_newest_entries(run: Run) -> list[Entry]:
    """As many as a page shows."""
    return list(run.entries.order_by("-seq")[:PAGE])


def list_page(run: Run, wanted: TimelineFilter) -> TimelinePage:
    """Along the numbers of the entries: no page costs more than the first."""
    found = _filter_entries(run.entries.all(), wanted)
    # Read away from the entry that the address names, shown in the order of the page.
    upwards = wanted.after is not None or (
        wanted.oldest_first and wanted.before is None
    )
    if wanted.before is not None:
        found = found.filter(seq__lt=wanted.before)
    if wanted.after is not None:
        found = found.filter(seq__gt=wanted.after)
    order = "seq" if upwards else "-seq"
    if wanted.search:
        found = _search_entries(found, wanted.search, order=order)
    rows = list(found.order_by(order)[: PAGE + 1])
    more = len(rows) > PAGE
    rows = rows[:PAGE]
    if upwards != wanted.oldest_first:
        rows.reverse()
    if not rows:
        return TimelinePage(entries=[], newer="", older="")
    low, high = sorted((rows[0].seq, rows[-1].seq))
    has_newer = more if upwards else wanted.before is not None
    has_older = more if not upwards else wanted.after is not None
    return TimelinePage(
        entries=rows,
        newer=wanted.build_query(after=high) if has_newer else "",
        older=wanted.build_query(before=low) if has_older else "",
    )


def _filter_entries(
    entries: QuerySet[Entry], wanted: TimelineFilter
) -> QuerySet[Entry]:
    if wanted.show:
        entries = entries.filter(type__in=KINDS[wanted.show])
    return entries


def _search_entries(
    entries: QuerySet[Entry], text: str, *, order: str
) -> QuerySet[Entry]:
    """Those with this in their payload, of packed ones no more than a page."""
    # As it stands in the payload, which is JSON.
    said = json.dumps(text, ensure_ascii=False)[1:-1]
    packed = Q(payload__startswith=PACKED)
    rows = entries.filter(packed).order_by(order).values_list("pk", "payload")
    folded = said.casefold()
    found = (
        pk
        for pk, payload in rows.iterator(chunk_size=PAGE)
        if folded in payload.casefold()
    )
    here = Q(pk__in=[*islice(found, PAGE + 1)])
    return entries.filter(here | (Q(payload__icontains=said) & ~packed))


def count_kinds(run: Run) -> dict[str, int]:
    """How many entries each filter shows; nothing for a long run, which all of them would
    have to be read for."""
    if run.head_seq > COUNTED_ENTRIES:
        return {}
    rows = run.entries.order_by().values_list("type").annotate(Count("pk"))
    counts = dict(rows)
    return {
        kind: sum(counts.get(each, 0) for each in types)
        for kind, types in KINDS.items()
    }


def build_filter_links(
    wanted: TimelineFilter, counts: dict[str, int]
) -> list[FilterLink]:
    return [
        FilterLink(
            name=kind or "all",
            word=kind.capitalize() or "All",
            count=f"{counts[kind]:,}" if kind in counts else "",
            query=wanted.build_query(show=kind),
            chosen=kind == wanted.show,
        )
        for kind in ("", *KINDS)
    ]


def describe_length(run: Run) -> str:
    return format_count(run.head_seq, "entry", "entries")
