"""What the chain of a project's administration tells."""

from __future__ import annotations

import json
from typing import Any

from accounts.models import Project
from ledger.models import Entry


def list_changes(project: Project) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, actor and payload of each change, oldest first, without the marks of what is
    secret."""
    entries = Entry.objects.filter(
        run__project=project, run__intent="system-settings"
    ).exclude(type__in=("run.started", "settings.recorded"))
    rows = entries.order_by("pk").values_list("type", "actor", "payload")
    return [
        (kind, actor, _remove_marks(json.loads(payload)))
        for kind, actor, payload in rows
    ]


def _remove_marks(payload: dict[str, Any]) -> dict[str, Any]:
    marks = ("secret", "password", "must_change", "tokens", "ends_tokens", "admin")
    return {name: value for name, value in payload.items() if name not in marks}
