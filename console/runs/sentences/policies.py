"""What the entries of a project's policies say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from console.format import format_count, format_exact_money
from console.runs.sentences.runs import Line
from safetext import make_visible_line


def describe_recorded_policies(payload: Mapping[str, Any]) -> Line:
    versions = payload["versions"]
    active = [_name_version(each) for each in versions if each["active"]]
    return Line(
        icon="flag",
        tone="mute",
        head=f"{format_count(len(versions), 'policy version')} found",
        text=f"In force: {', '.join(active)}" if active else "",
    )


def describe_stored_version(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="note",
        tone="mute",
        head=f"Policy {_name_version(payload)} stored",
        text=make_visible_line(payload["note"]),
    )


def describe_activation(payload: Mapping[str, Any]) -> Line:
    before = payload["before"]
    more = [] if before is None else [f"Before: version {before}"]
    if payload["apply_to_running"]:
        more.append("Also for runs in progress")
    return Line(
        icon="check",
        tone="go",
        head=f"Policy {_name_version(payload)} in force",
        text=make_visible_line(payload["note"]),
        why=tuple(more),
    )


def describe_move(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="flag",
        tone="mute",
        head=f"Goes on under the policy {_name_version(payload['policy'])}",
        why=(f"Before: version {payload['before']['version']}",),
    )


def describe_refusal(payload: Mapping[str, Any]) -> Line:
    late = payload["ending"] == "expired"
    return Line(
        icon="x",
        tone="stop",
        head=f"Policy {_name_version(payload)} not put in force",
        text="No second manager answered in time" if late else "",
    )


def describe_assignments(payload: Mapping[str, Any]) -> Line:
    lines = [
        f"{', '.join(f'{k} {v}' for k, v in each['match'].items())}: {each['policy']}"
        for each in payload["assignments"]
    ]
    chooses = (
        "Agents may choose" if payload["agents_choose"] else "Agents do not choose"
    )
    return Line(
        icon="link",
        tone="mute",
        head=f"{format_count(len(lines), 'policy assignment')} in force",
        text=f"{chooses} their policy",
        why=tuple(map(make_visible_line, lines)),
    )


def describe_shadow_start(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="eye",
        tone="mute",
        head=f"Draft {_name_version(payload)} runs in shadow",
        text=make_visible_line(payload["note"]),
        why=("It is only watched: nothing is decided by it",),
    )


def describe_shadow_stop(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="x",
        tone="mute",
        head=f"Draft {_name_version(payload)} runs in shadow no more",
        text=make_visible_line(payload["note"]),
    )


def describe_shadow(payload: Mapping[str, Any]) -> Line:
    """What a draft would have decided about the entry before."""
    draft = payload["draft"]
    name = "A draft" if draft is None else f"Draft {_name_version(draft)}"
    if payload["after"] is None:
        reason = make_visible_line(payload["reason"])
        return Line(
            icon="eye", tone="mute", head=f"{name} could not judge", text=reason
        )
    after = payload["after"]
    said = [f"{each['gate']}: {each['message']}" for each in after["findings"][:1]]
    return Line(
        icon="eye",
        tone="mute",
        head=f"{name} would have decided {after['decision']}",
        text=f"Decided was {payload['before']['decision']}. Nothing came of the draft",
        why=tuple(map(make_visible_line, said)),
    )


def describe_raise(payload: Mapping[str, Any]) -> Line:
    """More of a limit, for a day or a month."""
    more = payload["more"]
    written = {
        "tokens": lambda amount: format_count(amount, "token"),
        "tool_calls": lambda amount: format_count(amount, "tool call"),
        "cost_micros": format_exact_money,
    }
    amounts = [write(more[part]) for part, write in written.items() if part in more]
    whose = payload.get("agent_name", "the project")
    return Line(
        icon="gauge",
        tone="go",
        head=make_visible_line(
            f"{', '.join(amounts)} more for {whose}, {payload['period']}"
        ),
        text=make_visible_line(payload["reason"]),
    )


def _name_version(payload: Mapping[str, Any]) -> str:
    return make_visible_line(f"{payload['name']}, version {payload['version']}")


POLICY_LINES: dict[str, Callable[[Mapping[str, Any]], Line]] = {
    "policy.recorded": describe_recorded_policies,
    "policy.stored": describe_stored_version,
    "policy.activated": describe_activation,
    "policy.assigned": describe_assignments,
    "policy.refused": describe_refusal,
    "run.policy_changed": describe_move,
    "policy.shadow_started": describe_shadow_start,
    "policy.shadow_stopped": describe_shadow_stop,
    "shadow.judged": describe_shadow,
    "limit.raised": describe_raise,
}
