"""Look through a policy's history for suggestions, and make drafts of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import (
    DateTimeField,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Project
from common.errors import Invalid, NotFound, StaleVersion
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.core.suggestions.limits import get_limit, set_limit
from guidance.models import Policy
from guidance.selectors import find_version_in_force
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from reviews.models import UNENDED, SuggestionSearch
from reviews.policies.backtest.services import Period
from reviews.policies.drafts import TriedDraft, create_tried_draft
from reviews.policies.jobs import send_hint
from reviews.policies.selectors import list_versions, read_document
from reviews.policies.suggestions.selectors import Suggestions
from reviews.policies.suggestions.sentences import (
    describe_basis,
    describe_change,
    describe_limit,
    describe_missing,
    describe_rule,
    is_offered,
)

DAYS = 30
# Of each policy so many searches are kept.
KEPT = 3
# So many begin in one go by the clock; the others an hour later.
SEARCHES_LIMIT = 100


def start_search(project: Project, name: str) -> SuggestionSearch:
    """Put it before the workers; the one that is under way where there is one."""
    list_versions(project, name)
    in_force = find_version_in_force(project_id=project.pk, name=name)
    if in_force is None:
        raise Invalid(f"No version of {name} is in force: nothing was judged by it.")
    searches = SuggestionSearch.objects.filter(project=project, policy=name)
    until = timezone.now()
    try:
        with transaction.atomic():
            search = SuggestionSearch.objects.create(
                project=project,
                policy=name,
                version=in_force.version,
                since=until - timedelta(days=DAYS),
                until=until,
            )
    except IntegrityError:
        under_way = searches.filter(state__in=UNENDED).first()
        # It may have ended just now: then that is the newest.
        search = under_way or searches.latest("pk")
    kept = list(searches.order_by("-pk").values_list("pk", flat=True)[:KEPT])
    searches.exclude(pk__in=kept).exclude(state__in=UNENDED).delete()
    send_hint(project.pk)
    return search


def start_due_searches(at: datetime) -> int:
    policies = list(list_due_policies(at)[:SEARCHES_LIMIT])
    for policy in policies:
        start_search(policy.project, policy.name)
    return len(policies)


def list_due_policies(at: datetime) -> QuerySet[Policy]:
    """Those that nobody has looked at for a day, and that judged something since."""
    newest = SuggestionSearch.objects.filter(
        project=OuterRef("project"), policy=OuterRef("name")
    ).order_by("-pk")
    return (
        Policy.objects.filter(active__isnull=False)
        .annotate(searched_at=Subquery(newest.values("until")[:1]))
        .filter(Q(searched_at=None) | Q(searched_at__lt=at - timedelta(days=1)))
        .annotate(
            judged=Exists(
                exclude_system_runs(
                    Run.objects.filter(
                        project=OuterRef("project"),
                        policy__name=OuterRef("name"),
                        updated_at__gt=Coalesce(
                            OuterRef("searched_at"),
                            Value(at - timedelta(days=DAYS)),
                            output_field=DateTimeField(),
                        ),
                    )
                )
            )
        )
        .filter(judged=True)
        .select_related("project")
        .order_by("-pk")
    )


def create_draft(
    found: Suggestions, *, setting: str, person: PersonPrincipal, note: str = ""
) -> TriedDraft:
    """A version with this one change, which binds nobody, and its backtest over the same
    time. Raises StaleVersion where another version is in force than was looked at, Invalid
    where too few rulings speak for it."""
    item = found.get_suggested(setting)
    if not is_offered(item):
        raise Invalid(describe_missing(item))
    search, in_force = found.finished, found.in_force
    assert search is not None
    if in_force is None or found.stale:
        raise StaleVersion(
            f"Version {search.version} was looked at, and is not in force any more. Look "
            "through the history again."
        )
    return create_tried_draft(
        project=found.project,
        name=found.policy,
        document=_change(read_document(in_force), item),
        note=note or describe_draft(item),
        person=person,
        period=Period(since=search.since, until=search.until),
        based_on=in_force.version,
    )


def describe_draft(item: Mapping[str, Any]) -> str:
    """Why, for the history of the policy."""
    if "rule" in item:
        return f"Suggested from history. {describe_change(item)}. {describe_rule(item)}"
    said = (describe_change(item) + ".", describe_limit(item), describe_basis(item))
    return " ".join(("Suggested from history.", *said))


def _change(document: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    if "rule" in item:
        changed = build_warning_draft(document, item["rule"])
    else:
        limit = get_limit(item["setting"])
        changed = set_limit(document, limit, limit.read_value(item["suggested"]))
    if changed is None:
        raise NotFound
    return changed
