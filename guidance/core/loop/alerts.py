"""Alerts about one condition: said when it begins, changes or ends, and not again.

A condition has a name that stays. While it lasts, repeats join what is open; one change
a day is told; its end is told once. What comes back is a new incident that names the
old one. That all is well is told once a day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIRING, RESOLVED, ALL_GOOD = "firing", "resolved", "all_good"
SEVERITIES = ("critical", "high", "medium", "low")
# One line of up to 120 characters that does not begin or end with a blank.
CONDITION = r"^\S(.{0,118}\S)?$"

ALERT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "condition": {"type": "string", "pattern": CONDITION},
        "status": {"enum": [FIRING, RESOLVED, ALL_GOOD]},
        "severity": {"enum": list(SEVERITIES)},
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "detail": {"type": "string", "maxLength": 2000},
    },
    "required": ["condition", "status", "title"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    condition: str
    status: str
    title: str
    severity: str = "medium"
    detail: str = ""

    @property
    def content(self) -> tuple[str, str, str]:
        """What has to differ for a repeat to be a change."""
        return self.severity, self.title, self.detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a condition. `code` is its newest incident, open or not.

    `changed_today` and `told_well_today` say whether the one message a day is used up;
    `others_open` counts the open incidents of all conditions.
    """

    code: str | None = None
    is_open: bool = False
    content: tuple[str, str, str] | None = None
    changed_today: bool = False
    told_well_today: bool = False
    others_open: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "is_open": self.is_open,
            "content": None if self.content is None else list(self.content),
            "changed_today": self.changed_today,
            "told_well_today": self.told_well_today,
            "others_open": self.others_open,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Standing:
        content = document["content"]
        return cls(
            **{**document, "content": None if content is None else tuple(content)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Latched:
    """What becomes of the incident; `silent` says why nobody is told, if so."""

    change: str
    silent: str | None = None


def latch_alert(alert: Alert, standing: Standing) -> Latched:
    """opened, joined, changed, resolved, dropped or well."""
    if alert.status == ALL_GOOD:
        return _apply_well(standing)
    if alert.status == RESOLVED:
        if standing.is_open:
            return Latched(change="resolved")
        return Latched(change="dropped", silent=f"{alert.condition} is not open")
    if not standing.is_open:
        return Latched(change="opened")
    if alert.content == standing.content:
        return Latched(
            change="joined", silent=f"{alert.condition} is open and says the same"
        )
    if standing.changed_today:
        return Latched(
            change="joined",
            silent=f"a change of {alert.condition} was told today already",
        )
    return Latched(change="changed")


def _apply_well(standing: Standing) -> Latched:
    if standing.others_open:
        return Latched(
            change="dropped", silent=f"{standing.others_open} incidents are open"
        )
    if standing.told_well_today:
        return Latched(change="dropped", silent="that all is well was told today")
    return Latched(change="well")
