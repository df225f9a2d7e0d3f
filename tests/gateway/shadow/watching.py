"""A draft that runs beside a policy, and what it was seen to decide."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from accounts.models import Project
from ledger.models import Entry
from reviews.models import PolicyShadow
from reviews.policies.services import create_version
from reviews.policies.shadow.running import refresh_shadows
from reviews.policies.shadow.services import start_shadow
from tests.support.builders import Person


def watch(
    project: Project, manager: Person, document: dict[str, Any], name: str = "default"
) -> PolicyShadow:
    """A draft that says this, running beside the policy."""
    draft = create_version(project_id=project.pk, name=name, document=document)
    return start_shadow(
        project_id=project.pk,
        name=name,
        number=draft.version.version,
        lasts=timedelta(hours=1),
        by=manager.principal,
        note="Would it help?",
    )


def list_seen(shadow: PolicyShadow) -> list[dict[str, Any]]:
    """What the chains say of it, in order."""
    entries = Entry.objects.filter(
        project_id=shadow.project_id, type="shadow.judged"
    ).order_by("run_id", "seq")
    payloads = [json.loads(text) for text in entries.values_list("payload", flat=True)]
    return [each for each in payloads if each["shadow"] == str(shadow.code)]


def count_same(shadow: PolicyShadow) -> tuple[int, int]:
    refresh_shadows()
    shadow.refresh_from_db()
    return shadow.same_steps, shadow.same_calls
