"""What the entries of a project's policies say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from console.format import format_count
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


def _name_version(payload: Mapping[str, Any]) -> str:
    return make_visible_line(f"{payload['name']}, version {payload['version']}")


POLICY_LINES: dict[str, Callable[[Mapping[str, Any]], Line]] = {
    "policy.recorded": describe_recorded_policies,
    "policy.stored": describe_stored_version,
    "policy.activated": describe_activation,
    "policy.assigned": describe_assignments,
    "policy.refused": describe_refusal,
    "run.policy_changed": describe_move,
}
