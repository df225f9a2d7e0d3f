"""A part of a person's queue as the screen shows it: groups of rows between two edges."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.urls import reverse

from console.queue.address import QueueState
from console.queue.folds.rows import FoldRow, build_fold_row
from console.queue.rows import SEVERITY_TONES, ReviewRow, build_rows
from reviews.models import Review, Severity
from reviews.queue.folds import list_agents
from reviews.queue.order import Page, Queue
from reviews.queue.places import URGENCY, Place
from reviews.queue.tally import Tally

ListRow = ReviewRow | FoldRow
# In an order that does not begin with the severity there is one group.
ONE_GROUP = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A part of the queue: how many stand in it, and those that are listed."""

    name: str
    title: str
    tone: str
    count: int
    rows: list[ListRow]


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
    """`tally` counts what its query lets in, under each of its tabs."""

    state: QueueState
    slug: str
    seq: int
    groups: list[Group]
    rows: list[ListRow]
    total: int
    tally: Tally
    before: Edge | None
    after: Edge | None

    @property
    def url(self) -> str:
        return _build_url(self.slug, self.state)

    def describe_position(self, code: str) -> str:
        """Which one of the whole list it is; empty when it is not listed here."""
        place = self.before.count if self.before else 0
        for row in self.rows:
            members = getattr(row, "members", ()) or (row,)
            codes = [member.code for member in members]
            if code in codes:
                return f"{place + codes.index(code) + 1} of {self.total}"
            place += row.count
        return ""


def build_list(
    queue: Queue,
    page: Page,
    *,
    state: QueueState,
    tally: Tally,
    viewer: str,
    slug: str,
    at: datetime,
    seq: int,
    unfolded: Collection[str] = (),
) -> QueueList:
    """The folds with these keys are open."""
    rows = build_list_rows(
        queue, page.reviews, state=state, slug=slug, at=at, seq=seq, unfolded=unfolded
    )
    total = tally.count_shown(show=state.show, viewer=viewer)
    before = after = None
    if page.reviews and page.more_before:
        first = queue.get_place(page.reviews[0])
        before = build_edge(
            state, "before", first, count=queue.count_before(first), slug=slug
        )
    if page.reviews and page.more_after:
        last = queue.get_place(page.reviews[-1])
        listed = (before.count if before else 0) + sum(row.count for row in rows)
        after = build_edge(
            state, "after", last, count=max(1, total - listed), slug=slug
        )
    return QueueList(
        state=state,
        slug=slug,
        seq=seq,
        groups=_build_groups(
            rows,
            sort=state.sort,
            counts=tally.count_severities(show=state.show, viewer=viewer),
        ),
        rows=rows,
        total=total,
        tally=tally,
        before=before,
        after=after,
    )


def build_list_rows(
    queue: Queue,
    reviews: Sequence[Review],
    *,
    state: QueueState,
    slug: str,
    at: datetime,
    seq: int,
    unfolded: Collection[str] = (),
) -> list[ListRow]:
    """A row for each of these reviews, or for all that are folded with it."""
    folds = {review.code: queue.folds.get(review) for review in reviews}
    opened = [fold for fold in folds.values() if fold and fold.key in unfolded]
    members = {fold.key: queue.list_members(fold) for fold in opened}
    loaded = [*reviews, *(each for found in members.values() for each in found)]
    built = {row.code: row for row in build_rows(loaded, slug=slug, at=at, seq=seq)}
    shown = [fold for fold in folds.values() if fold]
    agents = list_agents(queue.list_reviews(), shown) if shown else {}
    rows: list[ListRow] = []
    for review in reviews:
        fold, row = folds[review.code], built[str(review.code)]
        rows.append(
            build_fold_row(
                fold,
                review,
                row,
                agents=agents,
                build_url=partial(_build_url, slug, state),
                members=[built[str(each.code)] for each in members.get(fold.key, ())],
            )
            if fold
            else row
        )
    return rows


def build_edge(
    state: QueueState, side: str, place: Place, *, count: int, slug: str
) -> Edge | None:
    """None when nothing stands beyond it."""
    if not count:
        return None
    url = _build_url(slug, state, **{side: str(place)})
    return Edge(side=side, place=place, count=count, url=url)


def _build_groups(
    rows: list[ListRow], *, sort: str, counts: tuple[int, ...]
) -> list[Group]:
    if sort != URGENCY:
        group = Group(
            name=ONE_GROUP, title="Waiting", tone="", count=sum(counts), rows=rows
        )
        return [group]
    return [
        Group(
            name=severity.value,
            title=str(severity.label),
            tone=SEVERITY_TONES[severity],
            count=count,
            rows=[row for row in rows if row.severity == severity],
        )
        for severity, count in zip(Severity, counts, strict=True)
    ]


def _build_url(slug: str, state: QueueState, *, like: str = "", **more: str) -> str:
    """With `like` only those that are alike."""
    line = f"{state.line} like:{like}".strip() if like else None
    query = state.build_query_string(line=line, **more)
    address = reverse("console:queue", args=[slug])
    return f"{address}?{query}" if query else address
