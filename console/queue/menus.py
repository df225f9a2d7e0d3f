"""Menus that narrow the queue: values that are there, chosen instead of typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from console.queue.address import QueueState
from console.queue.kinds import get_kind
from console.queue.query import FIELDS, ME
from guidance.core.checks import SEVERITIES
from reviews.models import Review, ReviewState
from safetext import make_visible_line

_LIMIT = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value, and the list with it; chosen already, the list without it."""

    words: str
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    name: str
    choices: tuple[Choice, ...]


def list_menus(project_id: int, state: QueueState) -> list[Menu]:
    """One query, however many reviews are open."""
    waiting = Review.objects.filter(project_id=project_id, state=ReviewState.OPEN)
    rows = list(
        waiting.order_by()
        .values_list("kind", "run__agent__name", "assignee__username")
        .distinct()
    )
    kinds, agents, people = (
        sorted({row[place] for row in rows if row[place]}) for place in range(3)
    )
    values = {
        "severity": [(each, each) for each in SEVERITIES],
        "kind": [(each, get_kind(each).nouns[0]) for each in kinds],
        "agent": [(each, each) for each in agents[:_LIMIT]],
        "assignee": [(ME, "me"), *((each, each) for each in people[:_LIMIT])],
    }
    return [
        Menu(name=FIELDS[name].label, choices=_build_choices(state, name, given))
        for name, given in values.items()
        if given
    ]


def _build_choices(
    state: QueueState, name: str, given: Sequence[tuple[str, str]]
) -> tuple[Choice, ...]:
    chosen = state.query.list_values(name)
    return tuple(
        Choice(
            words=make_visible_line(words),
            address=state.build_query_string(line=str(state.query.switch(name, value))),
            chosen=value in chosen,
        )
        for value, words in given
    )
