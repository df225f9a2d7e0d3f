"""What the entries of a project's administration say: who was let in, which keys exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from console.format import format_count
from console.runs.sentences.runs import Line
from safetext import make_visible_line

Payload = Mapping[str, Any]


class Change(NamedTuple):
    """As in "alice made the key *robo / ci*, for runs:write": whoever did it stands before."""

    verb: str
    what: str
    more: str = ""
    icon: str = "cog"
    tone: str = "mute"


def _describe_recorded(payload: Payload) -> Change:
    people = format_count(len(payload["people"]), "person", "people")
    agents = format_count(len(payload["agents"]), "agent")
    return Change("began this record", "", f"{people} and {agents} were there", "flag")


def _describe_created_project(payload: Payload) -> Change:
    return Change("created the project", payload["name"], icon="plus")


def _describe_changed_project(payload: Payload) -> Change:
    return Change("changed the project", "", _list_differences(payload))


def _describe_created_agent(payload: Payload) -> Change:
    owner = payload["owner"]
    said = [f"owner {owner}"] if owner else []
    if payload.get("limits"):
        said.append(f"limits {describe_limits(payload['limits'])}")
    return Change("made the agent", payload["name"], "; ".join(said), "agent")


def _describe_changed_agent(payload: Payload) -> Change:
    name, after = payload["name"], payload["after"]
    if set(after) == {"disabled"}:
        off = after["disabled"]
        verb = "disabled the agent" if off else "enabled the agent"
        tone = "stop" if off else "go"
        return Change(verb, name, icon="x" if off else "check", tone=tone)
    return Change("changed the agent", name, _list_differences(payload), "agent")


def _describe_made_key(payload: Payload) -> Change:
    more = ", ".join(payload["scopes"])
    if payload["expires_at"]:
        more += f", until {payload['expires_at'][:10]}"
    return Change("made the key", _name_key(payload), more, "key")


def _describe_revoked_key(payload: Payload) -> Change:
    return Change("revoked the key", _name_key(payload), icon="key", tone="stop")


def _describe_invitation(payload: Payload) -> Change:
    again = ", once more" if payload.get("again") else ""
    return Change("invited", payload["name"], f"as {payload['role']}{again}", "mail")


def _describe_withdrawal(payload: Payload) -> Change:
    return Change("took back the invitation of", payload["name"], "", "mail", "stop")


def _describe_joining(payload: Payload) -> Change:
    host = payload.get("invited_by")
    if host is not None:
        more = f"as {payload['role']}, invited by {host}"
        return Change("joined", "", more, "people", "go")
    return Change("added", payload["name"], f"as {payload['role']}", "people")


def _describe_changed_person(payload: Payload) -> Change:
    role = payload["after"].get("role")
    if role is not None and len(payload["after"]) == 1:
        return Change(
            "made", payload["name"], f"{role}, before {payload['before']['role']}"
        )
    return Change("changed", payload["name"], _list_differences(payload), "people")


def _describe_removal(payload: Payload) -> Change:
    more = f"who was {payload['role']}"
    return Change("removed", payload["name"], more, "people", "stop")


def _describe_password_link(payload: Payload) -> Change:
    return Change("made a link for a new password of", payload["name"], icon="key")


def _describe_given_password(payload: Payload) -> Change:
    return Change("gave a one-time password to", payload["name"], icon="key")


def _describe_rehashed_password(_payload: Payload) -> Change:
    return Change(
        "signed in: their password is stored more strongly now", "", icon="key"
    )


def _describe_new_password(_payload: Payload) -> Change:
    return Change("chose a new password", "", icon="key")


def _describe_ended_sign_ins(payload: Payload) -> Change:
    return Change("signed out in", ", ".join(payload["browsers"]), icon="out")


def _describe_changed_profile(payload: Payload) -> Change:
    changed = ", ".join(name.replace("_", " ") for name in payload["changed"])
    return Change("changed their own", changed, icon="people")


def _describe_made_token(payload: Payload) -> Change:
    expires = payload.get("expires_at")
    more = f"until {expires[:10]}" if expires else ""
    return Change("made the token", _name_token(payload), more, "key")


def _describe_revoked_token(payload: Payload) -> Change:
    ended = [
        each["token_name"] or each["prefix"] for each in payload.get("also_ended", ())
    ]
    more = f"and what was made with it: {', '.join(ended)}" if ended else ""
    return Change("revoked the token", _name_token(payload), more, "key", "stop")


def _name_key(payload: Payload) -> str:
    return f"{payload['name']} / {payload['key_name'] or payload['prefix']}"


def _name_token(payload: Payload) -> str:
    return f"{payload['name']} / {payload['token_name'] or payload['prefix']}"


def _list_differences(payload: Payload) -> str:
    before, after = payload["before"], payload["after"]
    return "; ".join(
        f"{name.replace('_', ' ')} {write(before[name])} → {write(after[name])}"
        for name in after
        for write in [describe_limits if name == "limits" else _format_value]
    )


def describe_limits(limits: Payload | None) -> str:
    """An agent's own, as in "500,000 tokens, 20.00 USD"."""
    if limits is None:
        return "none"
    words = (
        (limits["tokens"], "{:,} tokens"),
        (limits["tool_calls"], "{:,} tool calls"),
        (limits["cost_usd"], "{} USD"),
    )
    return ", ".join(text.format(amount) for amount, text in words if amount)


def _format_value(value: Any) -> str:
    match value:
        case None | "":
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value)) or "none"
        case dict():
            said = ", ".join(f"{name} {each}" for name, each in value.items())
            return said or "none"
        case _:
            return str(value)


def format_halt_scope(scope: Payload) -> str:
    """What a halt holds, in a few words."""
    if scope["agent"] is not None:
        return f"the agent {scope['agent']}"
    if scope["label"] is not None:
        return f"runs labelled {scope['label']}"
    if scope["run"] is not None:
        below = " and its children" if scope["children"] else ""
        return f"the run {scope['run']}{below}"
    return "the project"


def _describe_halt(payload: Payload) -> Change:
    scope = format_halt_scope(payload["scope"])
    return Change("halted", scope, payload["reason"], "hand", "stop")


def _describe_release(payload: Payload) -> Change:
    scope = format_halt_scope(payload["scope"])
    return Change("released", scope, payload["reason"], "play")


_CHANGES: dict[str, Callable[[Payload], Change]] = {
    "halt.started": _describe_halt,
    "halt.released": _describe_release,
    "settings.recorded": _describe_recorded,
    "project.created": _describe_created_project,
    "project.changed": _describe_changed_project,
    "agent.created": _describe_created_agent,
    "agent.changed": _describe_changed_agent,
    "key.made": _describe_made_key,
    "key.revoked": _describe_revoked_key,
    "person.invited": _describe_invitation,
    "person.joined": _describe_joining,
    "person.changed": _describe_changed_person,
    "person.removed": _describe_removal,
    "person.invitation_withdrawn": _describe_withdrawal,
    "person.password_link": _describe_password_link,
    "person.password_given": _describe_given_password,
    "password.changed": _describe_new_password,
    "password.rehashed": _describe_rehashed_password,
    "sign_in.ended": _describe_ended_sign_ins,
    "profile.changed": _describe_changed_profile,
    "token.made": _describe_made_token,
    "token.revoked": _describe_revoked_token,
}


def describe_change(entry_type: str, payload: Payload) -> Change | None:
    """None for an entry that is about the run, not about the project."""
    describe = _CHANGES.get(entry_type)
    if describe is None:
        return None
    change = describe(payload)
    return change._replace(
        what=make_visible_line(change.what), more=make_visible_line(change.more)
    )


def _describe_line(entry_type: str, payload: Payload) -> Line:
    change = describe_change(entry_type, payload)
    assert change is not None  # it is one of ours
    head = f"{change.verb.capitalize()} {change.what}".rstrip()
    return Line(icon=change.icon, tone=change.tone, head=head, text=change.more)


ADMINISTRATION_LINES: dict[str, Callable[[Payload], Line]] = {
    name: partial(_describe_line, name) for name in _CHANGES
}
