"""Start and cancel backtests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Agent, Project
from common.errors import Invalid, RateLimited
from common.ids import parse_code
from guidance.core.canonical import to_canonical_json
from guidance.models import PolicyVersion
from ledger.models import Run
from reviews.models import UNENDED, Backtest, JobState
from reviews.policies.jobs import send_hint

# How far back it looks unless it is told.
DAYS = 30
# Of one project: so many may wait or run at once, and so many are kept.
UNENDED_LIMIT = 5
KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """What is to be judged of a project; what is None is not narrowed."""

    since: datetime | None = None
    until: datetime | None = None
    agent: str | None = None
    run: str | None = None
    all_runs: bool = False
    limit: int | None = None


def start_backtest(
    *,
    project: Project,
    user_id: int,
    policy: str,
    document: Mapping[str, Any],
    version: int | None,
    period: Period,
) -> Backtest:
    """Put it before the workers; one of them takes it at once."""
    require_room(project)
    backtest = build_backtest(
        project=project,
        policy=policy,
        document=document,
        version=version,
        period=period,
    )
    backtest.created_by_id = user_id
    backtest.save()
    _delete_old(project)
    send_hint(project.pk)
    return backtest


def require_room(project: Project) -> None:
    """Refuse where so many wait or run already."""
    waiting = Backtest.objects.filter(project=project, state__in=UNENDED)
    if waiting.count() >= UNENDED_LIMIT:
        raise RateLimited(
            f"{UNENDED_LIMIT} backtests of this project are not done yet. Cancel one, or "
            "wait.",
            retry_after=30,
        )


def build_backtest(
    *,
    project: Project,
    policy: str,
    document: Mapping[str, Any],
    version: int | None,
    period: Period,
) -> Backtest:
    """Not stored yet; refused where it names what is not there."""
    until = period.until or timezone.now()
    since = period.since or until - timedelta(days=DAYS)
    if since >= until:
        raise _refuse("since", "must be before until")
    agent = run = None
    if period.agent is not None:
        agent = Agent.objects.filter(project=project, name=period.agent).first()
        if agent is None:
            raise _refuse("agent", "no agent of this project has this name")
    if period.run is not None:
        code = parse_code(period.run)
        run = Run.objects.filter(project=project, code=code).first() if code else None
        if run is None:
            raise _refuse("run", "this project has no such run")
    known = PolicyVersion.objects.filter(project=project, name=policy).exists()
    return Backtest(
        project=project,
        policy=policy,
        version=version,
        document=to_canonical_json(document),
        since=since,
        until=until,
        agent=agent,
        run=run,
        # Nothing was ever decided under a policy that does not exist yet.
        all_runs=period.all_runs or not known,
        limit=period.limit,
    )


def cancel_backtest(backtest: Backtest) -> Backtest:
    """What was found so far stays; one that has ended stays as it is."""
    Backtest.objects.filter(pk=backtest.pk, state__in=UNENDED).update(
        state=JobState.CANCELLED, ended_at=timezone.now()
    )
    backtest.refresh_from_db()
    return backtest


def _refuse(name: str, message: str) -> Invalid:
    return Invalid(f"{name}: {message}.", errors=[{"loc": [name], "message": message}])


def _delete_old(project: Project) -> None:
    """The newest ones stay, and all that have not ended."""
    kept = Backtest.objects.filter(project=project).order_by("-pk")[:KEPT]
    old = Backtest.objects.filter(project=project).exclude(
        pk__in=list(kept.values_list("pk", flat=True))
    )
    old.exclude(state__in=UNENDED).delete()
