"""The agents that spend most, with how their runs went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from accounts.models import SYSTEM_AGENTS, Agent
from console.charts.trend import draw_trend
from console.format import format_count
from console.overview.attention.interruptions import compute_rate, format_rate
from console.overview.figures import Figures
from console.overview.headline import compute_accepted, format_share, format_spend
from console.overview.links import Links
from console.overview.needs.limits import UsedLimit
from console.people import Person, build_person
from ledger.statistics.totals import Totals
from safetext import make_visible_line

SHOWN = 8
# A share under this is marked, where enough runs were judged to say so.
_LOW = 0.8
_JUDGED_LEAST = 5
# Stops of more than one run in ten are marked.
_MANY_STOPS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """`owner` is None for an agent from before there were owners."""

    name: str
    owner: Person | None
    runs: str
    accepted: str
    accepted_tone: str
    asked: str
    asked_an_hour: str
    stopped: str
    stopped_tone: str
    trend: SafeString
    spend: str
    href: str
    href_accepted: str
    href_asked: str
    href_stopped: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCard:
    """`rest` sums up the agents that are not shown, None where all are."""

    total: str
    rows: tuple[AgentRow, ...]
    rest: AgentRow | None
    href: str


def choose_agents(figures: Figures) -> list[str]:
    """By what they spent, then by their runs: the order of the table."""
    worked = {name: each for name, each in figures.agents.items() if is_at_work(each)}
    return sorted(
        worked,
        key=lambda name: (
            -worked[name].cost_micros,
            -worked[name].runs_started,
            name,
        ),
    )


def is_at_work(totals: Totals) -> bool:
    return bool(totals.runs_started or totals.steps or totals.calls)


def build_agent_card(
    figures: Figures,
    *,
    project_id: int,
    names: Sequence[str],
    spent: dict[str, list[int]],
    limits: Sequence[UsedLimit],
    links: Links,
) -> AgentCard:
    owners = _list_owners(project_id, names[:SHOWN])
    over = {each.agent for each in limits if each.agent and each.is_reached}
    rows = [
        _build_row(
            name,
            figures.agents[name],
            owner=owners.get(name),
            trend=draw_trend(
                list(spent.get(name, [])), width=72, tone="stop" if name in over else ""
            ),
            figures=figures,
            links=links,
        )
        for name in names[:SHOWN]
    ]
    others = [figures.agents[name] for name in names[SHOWN:]]
    return AgentCard(
        total=format_count(len(names), "agent"),
        rows=tuple(rows),
        rest=_build_rest(others, figures, links) if others else None,
        href=links.list_runs(period=figures.period),
    )


def _build_row(
    name: str,
    totals: Totals,
    *,
    owner: Person | None,
    trend: SafeString,
    figures: Figures,
    links: Links,
) -> AgentRow:
    period = figures.period
    share = compute_accepted(totals)
    judged = totals.runs_accepted + totals.runs_not_accepted
    low = share is not None and share < _LOW and judged >= _JUDGED_LEAST
    stops = totals.runs_stopped
    many = stops > 1 and stops > _MANY_STOPS * totals.runs_started
    return AgentRow(
        name=make_visible_line(name),
        owner=owner,
        runs=f"{totals.runs_started:,}",
        accepted=format_share(share),
        accepted_tone="pause" if low else "",
        asked=f"{totals.reviews_opened:,}",
        asked_an_hour=format_rate(compute_rate(totals)),
        stopped=f"{stops:,}",
        stopped_tone="stop" if many else "",
        trend=trend,
        spend=format_spend(totals.cost_micros),
        href=links.list_runs(period=period, agent=name),
        href_accepted=links.list_runs(period=period, agent=name, accepted="yes"),
        href_asked=links.list_rulings(period=period, agent=name),
        href_stopped=links.list_runs(period=period, agent=name, status="stopped"),
    )


def _build_rest(others: list[Totals], figures: Figures, links: Links) -> AgentRow:
    summed = Totals(
        runs_started=sum(each.runs_started for each in others),
        runs_stopped=sum(each.runs_stopped for each in others),
        runs_accepted=sum(each.runs_accepted for each in others),
        runs_not_accepted=sum(each.runs_not_accepted for each in others),
        reviews_opened=sum(each.reviews_opened for each in others),
        running_ms=sum(each.running_ms for each in others),
        cost_micros=sum(each.cost_micros for each in others),
    )
    return _build_row(
        format_count(len(others), "more agent"),
        summed,
        owner=None,
        trend=SafeString(""),
        figures=figures,
        links=links,
    )


def _list_owners(project_id: int, names: Sequence[str]) -> dict[str, Person]:
    agents = (
        Agent.objects.filter(project_id=project_id, name__in=names, owner__isnull=False)
        .exclude(name__in=SYSTEM_AGENTS)
        .select_related("owner")
    )
    return {each.name: build_person(each.owner) for each in agents if each.owner}
