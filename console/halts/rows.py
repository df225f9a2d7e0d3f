"""Halts as pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from console.format import ShownMoment, build_past_moment, format_count
from console.people import Person, build_person
from console.runs.rows import format_short_code
from ledger.halts.held_runs import filter_open
from ledger.models import Halt
from ledger.selectors import exclude_system_runs
from reviews.halts.selectors import RELATED, list_standing_halts
from safetext import make_visible_line

PAST_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Who let it go on, when and why."""

    by: Person
    when: ShownMoment
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HaltRow:
    """`run_url` only where it is about a run, `holds` only while it stands."""

    code: str
    scope: str
    run_url: str
    reason: str
    by: Person
    when: ShownMoment
    holds: str
    release: Release | None


def list_standing_rows(*, project_id: int, slug: str, at: datetime) -> list[HaltRow]:
    found = list_standing_halts(project_id=project_id)
    return [build_row(halt, slug=slug, at=at, counted=True) for halt in found]


def list_banner_rows(*, project_id: int, slug: str, at: datetime) -> list[HaltRow]:
    """The same without counting their runs: every page shows them."""
    found = list_standing_halts(project_id=project_id)
    return [build_row(halt, slug=slug, at=at) for halt in found]


def list_past_rows(*, project_id: int, slug: str, at: datetime) -> list[HaltRow]:
    rows = Halt.objects.select_related(*RELATED).filter(
        project_id=project_id, released_at__isnull=False
    )
    newest = rows.order_by("-released_at", "-pk")[:PAST_LIMIT]
    return [build_row(halt, slug=slug, at=at) for halt in newest]


def build_row(halt: Halt, *, slug: str, at: datetime, counted: bool = False) -> HaltRow:
    return HaltRow(
        code=str(halt.code),
        scope=format_scope(halt),
        run_url=reverse("console:run", args=[slug, halt.run.code]) if halt.run else "",
        reason=make_visible_line(halt.reason),
        by=build_person(halt.by),
        when=build_past_moment(halt.at, at),
        holds=_count_runs(halt) if counted else "",
        release=_build_release(halt, at),
    )


def format_scope(halt: Halt) -> str:
    if halt.agent is not None:
        return f"the agent {make_visible_line(halt.agent.name)}"
    if halt.label:
        return f"runs labelled {make_visible_line(halt.label)}"
    if halt.run is not None:
        below = " and its children" if halt.children else ""
        return f"the run {format_short_code(halt.run.code)}{below}"
    return "the whole project"


def _count_runs(halt: Halt) -> str:
    return format_count(exclude_system_runs(filter_open(halt)).count(), "open run")


def _build_release(halt: Halt, at: datetime) -> Release | None:
    if halt.released_at is None or halt.released_by is None:
        return None
    return Release(
        by=build_person(halt.released_by),
        when=build_past_moment(halt.released_at, at),
        reason=make_visible_line(halt.release_reason),
    )
