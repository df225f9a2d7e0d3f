"""What the chain of a project's administration tells."""

from __future__ import annotations

import json
from typing import Any

from accounts.models import Project
from ledger.models import Entry


def list_changes(project: Project) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, actor and payload of each change, oldest first."""
    entries = Entry.objects.filter(
        run__project=project, run__intent="system-settings"
    ).exclude(type__in=("run.started", "settings.recorded"))
    rows = entries.order_by("pk").values_list("type", "actor", "payload")
    return [(kind, actor, json.loads(payload)) for kind, actor, payload in rows]
