"""Labels, icons and colours of the loop's actions, outcomes and sources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.models import Agent, User
from common.ids import parse_code
from safetext import make_visible_line


class Look(NamedTuple):
    word: str
    icon: str
    tone: str


ACTIONS = {
    "start_loop": "Start a loop",
    "process_notes": "Process notes",
    "apply_retro_recommendation": "Draft a recommendation",
    "emit_alert": "Send an alert",
    "do_nothing": "Do nothing",
}
OUTCOMES = {
    "emitted": Look("Emitted", "send", "go"),
    "approved_and_emitted": Look("Approved, emitted", "check", "go"),
    "approval_required": Look("Waiting for approval", "pause", "pause"),
    "rate_limited": Look("Rate limited", "slow", "slow"),
    "budget_denied": Look("Over budget", "stop", "stop"),
    "approval_denied": Look("Not approved", "x", "stop"),
    "invalid_decision": Look("Invalid", "alert", "stop"),
    "deduplicated": Look("Repeat", "copy", ""),
    "noop": Look("Nothing done", "dot", ""),
}
REPORTED = {
    "succeeded": Look("Succeeded", "check", "go"),
    "failed": Look("Failed", "x", "stop"),
}
SOURCES = {
    "clock": "scheduled",
    "signal": "signalled",
    "manual": "by hand",
    "own": "from the ledger",
}
DECIDERS = {"rules": "Rules", "llm": "Model", "shadow": "Rules, model in shadow mode"}
FIELDS = {
    "note_queue_length": "Notes in the queue",
    "recent_log_entries": "Recent log entries",
    "pending_recommendations": "Pending recommendations",
    "active_runs": "Active runs",
    "half_done": "Unfinished",
}
RAILS = {
    "halted": "Halted",
    "switch": "Paused",
    "budget": "Budget",
    "decision": "Invalid decision",
    "stale": "Stale facts",
    "incident": "Known incident",
    "dedupe": "Repeat",
    "work": "Nothing to process",
    "cascade": "Cascade",
    "cap": "Hourly cap",
    "approval": "Needs approval",
}
SEVERITY_TONES = {"critical": "stop", "high": "stop", "medium": "pause", "low": ""}


def describe_action(action: str, kind: str) -> str:
    """The action's label; a loop is called by its name."""
    if action == "start_loop" and kind:
        return f"Start {make_visible_line(kind, limit=64)}"
    return ACTIONS[action]


def render_decision_link(code: object, *, slug: str) -> SafeString:
    return format_html(
        '<a class="c-accent" href="{}">this decision</a>',
        reverse("console:loop-decision", args=[slug, code]),
    )


def join_phrases(phrases: Iterable[SafeString]) -> SafeString:
    return format_html_join(", ", "{}", ((phrase,) for phrase in phrases))


def get_actor_names(actors: Iterable[str]) -> dict[str, str]:
    """Display names of actors, in at most two queries."""
    wanted = set(actors)
    names = {actor: actor.removeprefix("system:") for actor in wanted}
    for prefix, rows, name in (
        ("agent", Agent.objects.all(), "name"),
        ("user", User.objects.all(), "display_name"),
    ):
        codes = _parse_codes(wanted, prefix)
        for row in rows.filter(code__in=codes) if codes else ():
            names[f"{prefix}:{row.code}"] = make_visible_line(getattr(row, name))
    return names


def _parse_codes(actors: Iterable[str], prefix: str) -> list[UUID]:
    found = (
        parse_code(actor.removeprefix(f"{prefix}:"))
        for actor in actors
        if actor.startswith(f"{prefix}:")
    )
    return [code for code in found if code is not None]
