"""Policies and their versions as the API shows them."""

from __future__ import annotations

from typing import Any

from accounts.models import Project
from guidance.core.policy.meaning import describe_difference, list_value_changes
from guidance.models import PolicyVersion
from ledger.chain import format_timestamp
from reviews.policies.selectors import Document, ListedPolicy


def serialize_policy(project: Project, row: ListedPolicy) -> dict[str, Any]:
    active, activation = row.active, row.activation
    return {
        "project": project.slug,
        "name": row.policy.name,
        "version": active.version if active else None,
        "hash": active.hash if active else None,
        "versions": row.versions,
        "note": activation.note if activation else None,
        "by": activation.by.username if activation and activation.by else None,
        "at": format_timestamp(activation.at) if activation else None,
    }


def serialize_version(row: PolicyVersion, *, active: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": row.version,
        "hash": row.hash,
        "active": active,
        "note": row.note,
        "by": row.created_by.username if row.created_by else None,
        "at": format_timestamp(row.created_at),
    }


def serialize_differences(before: Document, after: Document) -> list[dict[str, Any]]:
    return [
        {
            "path": each.path,
            "before": each.before,
            "after": each.after,
            "meaning": describe_difference(each),
        }
        for each in list_value_changes(before, after)
    ]
