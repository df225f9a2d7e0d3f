"""Store a draft, and have it tried over history at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.auth import PersonPrincipal
from accounts.models import Project
from guidance.models import PolicyVersion
from reviews.models import Backtest
from reviews.policies.backtest.services import Period, require_room, start_backtest
from reviews.policies.services import create_version


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedDraft:
    version: PolicyVersion
    backtest: Backtest


def create_tried_draft(
    *,
    project: Project,
    name: str,
    document: Mapping[str, Any],
    note: str,
    person: PersonPrincipal,
    period: Period,
    based_on: int | None = None,
) -> TriedDraft:
    """The next version, which binds nobody, and its backtest."""
    # First: a draft without its backtest would be half of what was asked for.
    require_room(project)
    outcome = create_version(
        project_id=project.pk,
        name=name,
        document=document,
        note=note,
        author=person,
        based_on=based_on,
    )
    backtest = start_backtest(
        project=project,
        user_id=person.user_id,
        policy=name,
        document=document,
        version=outcome.version.version,
        period=period,
    )
    return TriedDraft(version=outcome.version, backtest=backtest)
