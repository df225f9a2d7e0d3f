"""Read the policies of a project and their versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Project
from common.errors import NotFound
from guidance.models import Policy, PolicyActivation, PolicyVersion
from guidance.selectors import find_version_in_force
from guidance.services import DEFAULT, get_policy_in_force

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPolicy:
    """`active` is the version in force, and `activation` the act that made it so; None
    while the policy has only drafts."""

    policy: Policy
    active: PolicyVersion | None
    activation: PolicyActivation | None
    versions: int


def list_policies(project: Project) -> list[ListedPolicy]:
    """Every policy with the version of it that is in force; the default first."""
    get_policy_in_force(project_id=project.pk, name=DEFAULT)  # made where it is missing
    versions = PolicyVersion.objects.filter(
        project_id=OuterRef("project_id"), name=OuterRef("name")
    ).order_by()
    count = versions.values("name").annotate(count=Count("pk")).values("count")
    newest = PolicyActivation.objects.filter(policy=OuterRef("pk")).order_by("-pk")
    rows = (
        Policy.objects.filter(project=project)
        .select_related("active__created_by")
        .annotate(
            versions=Coalesce(Subquery(count), 0),
            activation_id=Subquery(newest.values("pk")[:1]),
        )
    )
    by_name = sorted(rows, key=lambda row: (row.name != DEFAULT, row.name))
    acts = PolicyActivation.objects.select_related("by").in_bulk(
        [row.activation_id for row in by_name if row.activation_id]
    )
    return [
        ListedPolicy(
            policy=row,
            active=row.active,
            activation=acts.get(row.activation_id),
            versions=row.versions,
        )
        for row in by_name
    ]


def list_versions(project: Project, name: str) -> QuerySet[PolicyVersion]:
    """All versions of a policy, the newest first; NotFound if there are none."""
    rows = _select_versions(project, name)
    if not rows.exists():
        raise NotFound
    return rows


def _select_versions(project: Project, name: str) -> QuerySet[PolicyVersion]:
    if name == DEFAULT:
        get_policy_in_force(project_id=project.pk, name=DEFAULT)
    return (
        PolicyVersion.objects.select_related("created_by")
        .filter(project=project, name=name)
        .order_by("-version")
    )


def list_activations(project: Project, name: str) -> QuerySet[PolicyActivation]:
    """Every time a version came into force, the newest first."""
    return (
        PolicyActivation.objects.select_related("version", "before", "by")
        .filter(policy__project=project, policy__name=name)
        .order_by("-pk")
    )


def get_version(project: Project, name: str, number: int) -> PolicyVersion:
    row = _select_versions(project, name).filter(version=number).first()
    if row is None:
        raise NotFound
    return row


def read_document(row: PolicyVersion) -> Document:
    document: Document = json.loads(row.document)
    return document


def find_document_in_force(project: Project, name: str) -> Document:
    """What the policy says now; nothing if no version of it is in force."""
    if name == DEFAULT:
        get_policy_in_force(project_id=project.pk, name=DEFAULT)
    version = find_version_in_force(project_id=project.pk, name=name)
    return {} if version is None else read_document(version)
