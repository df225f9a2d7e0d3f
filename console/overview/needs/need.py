"""One thing that needs a person, and the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from safetext import make_visible_line

# Tones by harm: what is broken or stopped, what soon will be, and what is proved whole.
HARM = {"stop": 0, "pause": 1, "go": 2}
NAMED = 2


class Act(NamedTuple):
    """Something to be done about it in place; `href` gives the question for the dialog.
    `role` is who may, as the classes of buttons name it."""

    words: str
    href: str
    tone: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`harm` sorts those of one tone, the lowest first; `href` is the list that it is
    about, empty where the viewer may not open it."""

    tone: str
    icon: str
    title: str
    about: str
    href: str
    harm: int
    acts: tuple[Act, ...] = ()

    @property
    def is_good(self) -> bool:
        return self.tone == "go"


def sort_needs(needs: Iterable[Need]) -> list[Need]:
    return sorted(needs, key=lambda each: (HARM[each.tone], each.harm))


def name_some(names: Sequence[str]) -> str:
    """Such as "data-backfill, release-pilot and 3 more"."""
    shown = ", ".join(make_visible_line(each) for each in names[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown
