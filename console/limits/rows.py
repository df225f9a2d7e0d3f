"""What is used of the limits that runs share, as rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.models import User
from console.charts import draw_gauge
from console.format import (
    ShownMoment,
    build_past_moment,
    format_compact,
    format_exact_money,
    format_money,
)
from console.people import Person, build_person
from console.runs.sentences.policies import describe_raise
from guidance.core.runs.shared_limits import NOTICE_PERCENTS
from ledger.models import Entry
from reviews.policies.limits.selectors import PartUse, ScopeUse
from safetext import make_visible_line

PERIOD_NAMES = {
    "agent_day": "Today",
    "project_day": "Today",
    "project_month": "This month",
}
PART_NAMES = {"tokens": "Tokens", "tool_calls": "Tool calls", "cost_micros": "Cost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitCell:
    """One part of a limit; `limit` and `bar` are empty where it has none."""

    name: str
    used: str
    limit: str
    extra: str
    percent: str
    tone: str
    bar: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRow:
    """`raise_url` is empty where nothing is limited."""

    id: str
    name: str
    policy: str
    has_own: bool
    cells: tuple[LimitCell, ...]
    is_used_up: bool
    raise_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseRow:
    """Who gave more of which limit, when and why."""

    head: str
    reason: str
    by: Person | None
    when: ShownMoment


def build_limit_rows(uses: Iterable[ScopeUse], *, slug: str) -> list[LimitRow]:
    return [_build_row(use, slug=slug) for use in uses]


def build_raise_url(slug: str, *, scope: str, agent: str | None = None) -> str:
    named = {"scope": scope, **({} if agent is None else {"agent": agent})}
    return f"{reverse('console:limit-raise', args=[slug])}?{urlencode(named)}"


def build_raise_rows(entries: Sequence[Entry], *, at: datetime) -> list[RaiseRow]:
    codes = {UUID(entry.actor.removeprefix("user:")) for entry in entries}
    people = {user.code: user for user in User.objects.filter(code__in=codes)}
    return [_build_raise(entry, people, at=at) for entry in entries]


def _build_raise(entry: Entry, people: dict[UUID, User], *, at: datetime) -> RaiseRow:
    line = describe_raise(json.loads(entry.payload))
    by = people.get(UUID(entry.actor.removeprefix("user:")))
    return RaiseRow(
        head=line.head,
        reason=line.text,
        by=build_person(by) if by else None,
        when=build_past_moment(entry.at, at),
    )


def _build_row(use: ScopeUse, *, slug: str) -> LimitRow:
    agent = use.agent.name if use.agent else None
    owner = use.agent.code if use.agent else use.scope
    return LimitRow(
        id=f"limit-{owner}",
        name=make_visible_line(agent or PERIOD_NAMES[use.scope]),
        policy=make_visible_line(use.policy or ""),
        has_own=use.has_own,
        cells=tuple(map(build_limit_cell, use.parts)),
        is_used_up=use.share is not None and use.share >= 1,
        raise_url=build_raise_url(slug, scope=use.scope, agent=agent)
        if use.share is not None
        else "",
    )


def build_limit_cell(part: PartUse) -> LimitCell:
    write = format_money if part.part == "cost_micros" else format_compact
    fully = format_exact_money if part.part == "cost_micros" else "{:,}".format
    share, limit = part.share, part.limit
    near = limit is not None and part.used != limit and write(part.used) == write(limit)
    return LimitCell(
        name=PART_NAMES[part.part],
        used=fully(part.used) if near else write(part.used),
        limit="" if limit is None else write(limit),
        extra=write(part.extra) if limit is not None and part.extra else "",
        percent="" if share is None else f"{int(share * 100)} %",
        tone=_choose_tone(share),
        bar=SafeString("") if share is None else draw_gauge(share=share, tick=None),
    )


def _choose_tone(share: float | None) -> str:
    if share is None or share * 100 < NOTICE_PERCENTS[0]:
        return ""
    return "hot stop" if share >= 1 else "hot"
