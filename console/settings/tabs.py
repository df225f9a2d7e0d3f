"""The frame of every settings page, and the tabs in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from console.access import ConsoleRequest
from console.runs.rows import get_live_position


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """`own` is about the viewer: everybody has it. The others are for `sees_all`."""

    name: str
    label: str
    address: str
    own: bool = False


# In the order of the page. The first one that the viewer sees opens with "Settings".
TABS = (
    Tab(name="start", label="Start", address="console:settings-start"),
    Tab(name="agents", label="Agents and keys", address="console:settings-agents"),
    Tab(name="people", label="People and roles", address="console:settings-people"),
    Tab(name="project", label="Project", address="console:settings-project"),
    Tab(name="changes", label="Changes", address="console:settings-changes"),
    Tab(name="you", label="You", address="console:settings-you", own=True),
    Tab(
        name="notifications",
        label="Notifications",
        address="console:settings-notifications",
        own=True,
    ),
    Tab(
        name="keyboard",
        label="Keyboard",
        address="console:settings-keyboard",
        own=True,
    ),
)


def list_tabs(request: ConsoleRequest) -> list[Tab]:
    return [tab for tab in TABS if tab.own or request.role.sees_all]


def build_frame(request: ConsoleRequest, tab: str) -> dict[str, Any]:
    """What every settings page has in its context."""
    return {
        "page": "settings",
        "tab": tab,
        "tabs": list_tabs(request),
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }
