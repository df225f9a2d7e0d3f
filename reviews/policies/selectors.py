"""Read the policies of a project and their versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Max, QuerySet

from accounts.models import Project
from common.errors import NotFound
from guidance.models import PolicyVersion
from guidance.services import DEFAULT, get_policy_in_force

Document = Mapping[str, Any]


def list_policies(project: Project) -> list[tuple[PolicyVersion, int]]:
    """The version in force of each policy, and how many versions it has; by name."""
    get_policy_in_force(project_id=project.pk, name=DEFAULT)  # made where it is missing
    newest = (
        PolicyVersion.objects.filter(project=project)
        .values("name")
        .annotate(newest=Max("pk"), count=Count("pk"))
    )
    counts = {row["newest"]: row["count"] for row in newest}
    rows = PolicyVersion.objects.select_related("created_by").filter(pk__in=counts)
    by_name = sorted(rows, key=lambda row: (row.name != DEFAULT, row.name))
    return [(row, counts[row.pk]) for row in by_name]


def list_versions(project: Project, name: str) -> QuerySet[PolicyVersion]:
    """All versions of a policy, the newest first; NotFound if there are none."""
    if name == DEFAULT:
        get_policy_in_force(project_id=project.pk, name=DEFAULT)
    rows = (
        PolicyVersion.objects.select_related("created_by")
        .filter(project=project, name=name)
        .order_by("-version")
    )
    if not rows.exists():
        raise NotFound
    return rows


def get_version(project: Project, name: str, number: int) -> PolicyVersion:
    row = list_versions(project, name).filter(version=number).first()
    if row is None:
        raise NotFound
    return row


def read_document(row: PolicyVersion) -> Document:
    document: Document = json.loads(row.document)
    return document


def find_document_in_force(project: Project, name: str) -> Document:
    """What the policy says now; nothing if there is no policy of this name."""
    try:
        return read_document(list_versions(project, name)[0])
    except NotFound:
        return {}
