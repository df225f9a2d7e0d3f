"""All parts of the overview, from figures that are read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.models import Project
from console.overview.acceptance import AcceptanceCard, build_acceptance_card
from console.overview.agents import SHOWN, AgentCard, build_agent_card, choose_agents
from console.overview.attention.disagreement import (
    DisagreementCard,
    build_disagreement_card,
)
from console.overview.attention.interruptions import (
    InterruptionCard,
    build_interruption_card,
)
from console.overview.attention.not_asked import NotAskedCard, build_not_asked_card
from console.overview.decisions import DecisionCard, build_decision_card
from console.overview.endings import EndingCard, build_ending_card
from console.overview.figures import (
    read_agent_spend,
    read_count_series,
    read_counts,
    read_figures,
    sum_now,
)
from console.overview.headline import Headline, list_headlines
from console.overview.limits import list_used_limits
from console.overview.links import Links
from console.overview.needs.strip import Strip, build_strip
from console.overview.period import Period
from console.overview.rules import RuleCard, build_rule_card
from console.overview.rulings import RulingCard, build_ruling_card
from console.overview.spend import SpendCard, build_spend_card
from console.overview.waits import read_waits
from gateway.statistics import PAUSED_BY
from guidance.selectors import find_version_in_force
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from ledger.statistics.run_counts import ENDING, EVALUATOR_FAILED, EVALUATORS
from ledger.statistics.selectors import CountedUntil, get_counted_until
from reviews.policies.selectors import read_document
from reviews.statistics.attention import COMPARED
from reviews.statistics.counts import EXPIRED, NOT_ASKED, OPENED, RULE_COUNTS, RULED

# Figures that are so far behind say up to when they count.
BEHIND = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewPage:
    """`counted_until` is None while the figures are up to date, and where nothing
    `is_counted` yet."""

    period: Period
    is_counted: bool
    counted_until: datetime | None
    strip: Strip
    headlines: tuple[Headline, ...]
    spend: SpendCard
    decisions: DecisionCard
    endings: EndingCard
    rulings: RulingCard
    acceptance: AcceptanceCard
    interruptions: InterruptionCard
    not_asked: NotAskedCard
    disagreement: DisagreementCard
    agents: AgentCard
    rules: RuleCard


def has_runs(*, project_id: int) -> bool:
    # In the order of an index, in which the newest is at hand.
    runs = Run.objects.filter(project_id=project_id).order_by("-created_at")
    return bool(exclude_system_runs(runs).values_list("pk", flat=True)[:1])


def build_overview(
    project: Project, *, period: Period, subject: str, at: datetime, links: Links
) -> OverviewPage:
    project_id = project.pk
    counted = get_counted_until(project_id=project_id)
    limits = list_used_limits(project, at=at)
    figures = read_figures(project_id=project_id, period=period)
    counts = read_counts(
        project_id=project_id,
        period=period,
        kinds=(
            *(ENDING, EVALUATOR_FAILED, PAUSED_BY, *RULE_COUNTS),
            *(OPENED, EXPIRED, RULED, NOT_ASKED, COMPARED),
        ),
    )
    waits = read_waits(project_id=project_id, period=period)
    names = choose_agents(figures)
    return OverviewPage(
        period=period,
        is_counted=counted.at is not None,
        counted_until=find_counted_until(counted, at=at),
        strip=build_strip(project_id=project_id, at=at, limits=limits, links=links),
        headlines=tuple(
            list_headlines(
                figures,
                waits=waits,
                opened=counts[OPENED],
                opened_by_time=read_count_series(
                    project_id=project_id, period=period, kind=OPENED
                ),
                links=links,
            )
        ),
        spend=build_spend_card(
            project_id=project_id, at=at, limits=limits, links=links
        ),
        decisions=build_decision_card(
            figures, subject=subject, paused_by=counts[PAUSED_BY], links=links
        ),
        endings=build_ending_card(counts[ENDING], period=period, links=links),
        rulings=build_ruling_card(
            waits, period=period, unanswered=sum_now(counts[EXPIRED]), links=links
        ),
        acceptance=build_acceptance_card(
            figures,
            failed=counts[EVALUATOR_FAILED],
            disproved=sum(
                each.now for each in counts[ENDING] if each.key == EVALUATORS
            ),
            links=links,
        ),
        interruptions=build_interruption_card(figures, links=links),
        not_asked=build_not_asked_card(figures, counts[NOT_ASKED], links=links),
        disagreement=build_disagreement_card(
            counts[RULED], counts[COMPARED], period=period, links=links
        ),
        agents=build_agent_card(
            figures,
            project_id=project_id,
            names=names,
            spent=read_agent_spend(
                project_id=project_id, period=period, agents=names[:SHOWN]
            ),
            limits=limits,
            links=links,
        ),
        rules=build_rule_card(
            counts,
            period=period,
            document=_read_document(project) if links.manages else {},
            links=links,
        ),
    )


def find_counted_until(counted: CountedUntil, *, at: datetime) -> datetime | None:
    """Up to when the figures count, where that is so long ago that a reader should know."""
    if not counted.waiting or counted.at is None or at - counted.at < BEHIND:
        return None
    return counted.at


def _read_document(project: Project) -> Mapping[str, Any]:
    """Of the policy that a draft is made of."""
    version = find_version_in_force(project_id=project.pk, name=project.default_policy)
    return read_document(version) if version else {}
