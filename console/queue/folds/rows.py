"""Reviews that are alike as one row of the queue; opened, each of them stands below it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from console.queue.kinds import get_kind
from console.queue.rows import ReviewRow
from reviews.models import Review
from reviews.queue.folds import Fold
from safetext import make_visible_line

# More agents than these are counted.
AGENTS_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRow:
    """Stands for `count` reviews, at the place of the first of them. `members` are listed
    where it is open; `url` leads to a list of all of them."""

    key: str
    count: int
    title: str
    agents: str
    first: ReviewRow
    url: str
    toggle_url: str
    members: tuple[ReviewRow, ...] = ()

    template = "console/queue/_fold.html"

    @property
    def code(self) -> str:
        return self.first.code

    @property
    def severity(self) -> str:
        return self.first.severity

    @property
    def seq(self) -> int:
        return self.first.seq

    @property
    def is_open(self) -> bool:
        return bool(self.members)

    @property
    def unlisted(self) -> int:
        return self.count - len(self.members)


def build_fold_row(
    fold: Fold,
    review: Review,
    first: ReviewRow,
    *,
    agents: Mapping[str, Sequence[str]],
    build_url: Callable[..., str],
    members: Sequence[ReviewRow] = (),
) -> FoldRow:
    """`review` is the first of the fold. `build_url` gives the address of the same list
    with something more in it."""
    title = get_kind(review.kind).build_fold_title(review, json.loads(review.content))
    opened = {} if members else {"unfolded": fold.key}
    return FoldRow(
        key=fold.key,
        count=fold.count,
        title=make_visible_line(title),
        agents=_name_agents(agents.get(fold.key, ())),
        first=first,
        url=build_url(like=fold.key),
        toggle_url=build_url(fold=fold.key, **opened),
        members=tuple(members),
    )


def _name_agents(names: Sequence[str]) -> str:
    shown = ", ".join(map(make_visible_line, names[:AGENTS_NAMED]))
    more = len(names) - AGENTS_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
