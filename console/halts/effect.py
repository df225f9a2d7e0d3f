"""The effect of a halt, before anybody begins it: which runs it would hold, and whose."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from console.format import format_count
from console.halts.rows import format_scope
from ledger.halts.held_runs import filter_open
from ledger.models import Halt
from ledger.selectors import exclude_system_runs
from reviews.halts.schemas import serialize_scope
from reviews.models import Review
from safetext import make_visible_line

# So many agents are named.
_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class HaltEffect:
    """`seen` is sent back with the decision: what was shown is what is halted."""

    scope: str
    holds: str
    agents: tuple[tuple[str, str], ...]
    more: str
    reviews: str
    seen: str


def build_effect(halt: Halt) -> HaltEffect:
    """Three queries, however many runs there are. `halt` is not stored."""
    runs = exclude_system_runs(filter_open(halt))
    counted = list(
        runs.values_list("agent__name")
        .annotate(count=Count("pk"))
        .order_by("-count", "agent__name")
    )
    waiting = Review.objects.filter(closed_at=None, run__in=runs).count()
    given = serialize_scope(halt)
    beyond = len(counted) - _NAMED
    return HaltEffect(
        scope=format_scope(halt),
        holds=format_count(sum(count for _, count in counted), "open run"),
        agents=tuple(
            (make_visible_line(name), f"{count:,}") for name, count in counted[:_NAMED]
        ),
        more=format_count(beyond, "more agent") if beyond > 0 else "",
        reviews=format_count(waiting, "open review") if waiting else "",
        seen=" ".join(f"{name}={value}" for name, value in given.items() if value),
    )
