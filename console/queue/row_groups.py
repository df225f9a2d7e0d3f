"""A part of a person's queue as the screen shows it: groups of rows between two edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from console.queue.rows import ReviewRow, build_rows
from reviews.queue.order import GROUPS, Page, Place, Queue, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A part of the queue: how many stand in it, and those that are listed."""

    name: str
    title: str
    count: int
    rows: list[ReviewRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Where the listed part ends while the queue goes on, and how far it goes on."""

    side: str
    place: Place
    count: int
    url: str

    @property
    def label(self) -> str:
        return f"{self.count} {'more' if self.side == 'after' else 'before these'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueList:
    show: str
    slug: str
    seq: int
    groups: list[Group]
    rows: list[ReviewRow]
    total: int
    before: Edge | None
    after: Edge | None

    @property
    def url(self) -> str:
        return _build_url(self.slug, self.show)

    def describe_position(self, code: str) -> str:
        """Which one of the whole list it is; empty when it is not listed here."""
        codes = [row.code for row in self.rows]
        skipped = self.before.count if self.before else 0
        if code not in codes:
            return ""
        return f"{skipped + codes.index(code) + 1} of {self.total}"


def build_list(
    queue: Queue,
    page: Page,
    *,
    tally: Tally,
    viewer: str,
    slug: str,
    at: datetime,
    seq: int,
) -> QueueList:
    rows = build_rows(page.reviews, slug=slug, at=at, seq=seq)
    counts = tally.count_groups(show=queue.show, viewer=viewer)
    total = sum(counts.values())
    before = after = None
    if page.reviews and page.more_before:
        first = queue.get_place(page.reviews[0])
        before = build_edge(
            queue, "before", first, count=queue.count_before(first), slug=slug
        )
    if page.reviews and page.more_after:
        last = queue.get_place(page.reviews[-1])
        listed = (before.count if before else 0) + len(page.reviews)
        after = build_edge(
            queue, "after", last, count=max(1, total - listed), slug=slug
        )
    names = list(GROUPS)
    placed = [
        (names[queue.get_place(review).group], row)
        for review, row in zip(page.reviews, rows, strict=True)
    ]
    return QueueList(
        show=queue.show,
        slug=slug,
        seq=seq,
        groups=_build_groups(placed, counts),
        rows=rows,
        total=total,
        before=before,
        after=after,
    )


def build_edge(
    queue: Queue, side: str, place: Place, *, count: int, slug: str
) -> Edge | None:
    """None when nothing stands beyond it."""
    if not count:
        return None
    url = _build_url(slug, queue.show, **{side: str(place)})
    return Edge(side=side, place=place, count=count, url=url)


def _build_groups(
    placed: Sequence[tuple[str, ReviewRow]], counts: dict[str, int]
) -> list[Group]:
    return [
        Group(
            name=name,
            title=title,
            count=counts[name],
            rows=[row for group, row in placed if group == name],
        )
        for name, title in GROUPS.items()
    ]


def _build_url(slug: str, show: str, **more: str) -> str:
    query = urlencode({**({"show": show} if show != "all" else {}), **more})
    address = reverse("console:queue", args=[slug])
    return f"{address}?{query}" if query else address
