"""People, agents and keys of a project, as they follow from the chain of its administration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from accounts.models import (
    SYSTEM_SETTINGS,
    Membership,
    Role,
)
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.verification.row_checks import Mismatch
from ledger.verification.unreadable import describe, refuse_other
from reviews.administration.described_rows import RECORD_VERSION
from reviews.row_checks.administration_tables import OWN_TABLES, TABLES
from reviews.row_checks.compare import compare_table
from reviews.row_checks.rows import (
    UNKNOWN,
    EntryOrigin,
    ExpectedRows,
    Payload,
    Take,
)
from reviews.row_checks.stored import (
    Table,
    Values,
)

# The kinds of rows of which the record of an older server says nothing.
_TOLD_BY_NEWER = frozenset({"project", "key", "invitation"})


def compare_administration(run_ids: Sequence[int]) -> Iterator[Mismatch]:
    """Every row that was changed, removed or added past the chain.

    The chain may go over several runs: what it says in the end is told of the last one.
    """
    chains = Run.objects.filter(intent=SYSTEM_SETTINGS, agent__name=SYSTEM_SETTINGS)
    projects = chains.filter(pk__in=run_ids).values_list("project_id", flat=True)
    for project_id in sorted(set(projects)):
        newest = chains.filter(project_id=project_id).latest("pk")
        if newest.pk in run_ids:
            for each in _list_mismatches(project_id):
                yield replace(each, run_id=newest.pk)


def _list_mismatches(project_id: int) -> Iterator[Mismatch]:
    rows = AdministrationRows(run_code="", project_id=project_id)
    trouble = rows.fold()
    if trouble is not None:
        yield trouble
        return
    for table in TABLES:
        if rows.is_complete or table.name not in _TOLD_BY_NEWER:
            yield from compare_table(table, [project_id], {project_id: rows})
    if rows.is_complete:
        yield from _list_own_mismatches(rows)


def _list_own_mismatches(rows: AdministrationRows) -> Iterator[Mismatch]:
    """The entry of a person's first project is one commit with the change: where those of
    the others have not followed yet, one of their chains knows better."""
    others: list[AdministrationRows] | None = None
    project_id = rows.project_id
    for table in OWN_TABLES:
        for each in compare_table(table, [project_id], {project_id: rows}):
            if others is None:
                others = _fold_other_chains(project_id)
            if not any(_confirms(other, table, each, project_id) for other in others):
                yield each


def _fold_other_chains(project_id: int) -> list[AdministrationRows]:
    """Fold those of all other projects that anybody of this one is in."""
    people = Membership.objects.filter(project_id=project_id).values("user_id")
    places = Membership.objects.filter(user_id__in=people)
    ids = places.exclude(project_id=project_id).values_list("project_id", flat=True)
    others = [
        AdministrationRows(run_code="", project_id=other) for other in sorted(set(ids))
    ]
    return [other for other in others if other.fold() is None]


def _confirms(
    other: AdministrationRows, table: Table, found: Mismatch, project_id: int
) -> bool:
    if found.key not in other.get_table(table.name):
        return False
    again = compare_table(table, [project_id], {project_id: other})
    return all(each.key != found.key for each in again)


@dataclass(slots=True)
class AdministrationRows(ExpectedRows):
    """`is_recorded`: the chain knows who and which agents were there when it began;
    `is_complete`: also all the rest that is compared."""

    is_recorded: bool = False
    is_complete: bool = False

    def fold(self) -> Mismatch | None:
        """Take all entries of the chain; an entry that fits no row ends it."""
        entries = Entry.objects.filter(
            project_id=self.project_id,
            run__agent__name=SYSTEM_SETTINGS,
            type__in=list(_TAKES),
        ).order_by("run_id", "seq")
        columns = ("type", "payload", "actor", "at", "seq")
        for entry_type, payload, actor, at, seq in entries.values_list(*columns):
            self.seq = seq
            now = EntryOrigin(seq=seq, at=format_timestamp(at), actor=actor)
            try:
                _TAKES[entry_type](self, json.loads(payload), now)
            except Exception as error:
                refuse_other(error)
                reason = f"its {entry_type} fits no row: {describe(error)}"
                return Mismatch(run_id=0, seq=seq, reason=reason)
        return None

    def learn(
        self, table: str, key: str, now: EntryOrigin, *, adds: bool, **values: Any
    ) -> None:
        """Fill in from a later record what no entry has told, and change nothing else."""
        known = self.get_table(table).get((key,))
        if known is not None:
            told = {
                name: value
                for name, value in values.items()
                if known.values[name] is UNKNOWN
            }
            known.values |= told
        elif adds:
            self.add(table, key, now=now, **values)


def _record(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    assert isinstance(rows, AdministrationRows)
    is_full = payload.get("version", 1) >= RECORD_VERSION
    adds, rows.is_recorded = not rows.is_recorded, True
    for person in payload["people"]:
        told = {name: person[name] for name in ("role", "name")}
        rows.learn("person", person["person"], now, adds=adds, **told)
    for agent in payload["agents"]:
        told = {name: agent[name] for name in ("name", "owner")}
        told |= {
            name: agent.get(name, UNKNOWN) if is_full else UNKNOWN
            for name in ("description", "limits", "disabled")
        }
        rows.learn("agent", agent["agent"], now, adds=adds, **told)
    if not is_full:
        return
    adds, rows.is_complete = not rows.is_complete, True
    project = str(rows.project_id)
    rows.learn("project", project, now, adds=adds, **payload["project"])
    for person in payload["people"]:
        told = {name: person[name] for name in ("password", "must_change")}
        rows.learn("password", person["person"], now, adds=adds, **told)
    for token in payload["tokens"]:
        told = _read_token_entry(token)
        rows.learn("token", token["token"], now, adds=adds, **told)
    for key in payload["keys"]:
        told = _read_key_entry(key, key["made_by"]) | {"revoked": key["revoked"]}
        rows.learn("key", key["key"], now, adds=adds, **told)
    for each in payload["invitations"]:
        told = _read_invitation_entry(each, each["invited_by"])
        rows.learn("invitation", each["invitation"], now, adds=adds, **told)


def _create_project(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    """Made by a person, it has an admin from then on."""
    told = {name: payload[name] for name in ("name", "slug")}
    _change_project_to(rows, told, now)
    person = now.actor.removeprefix("user:")
    if person == now.actor:
        return
    admin = payload.get("admin", {})
    name = admin.get("name", UNKNOWN)
    rows.add("person", person, now=now, role=Role.ADMIN.value, name=name)
    _admit(rows, person, admin, now)


def _change_project(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    after = payload["after"]
    columns = ("name", "slug", "default_policy", "retention_days")
    told = {name: after[name] for name in columns if name in after}
    _change_project_to(rows, told, now)


def _change_project_to(
    rows: ExpectedRows, told: dict[str, Any], now: EntryOrigin
) -> None:
    key = (str(rows.project_id),)
    if key not in rows.get_table("project"):
        columns = ("name", "slug", "default_policy", "retention_days")
        rows.add("project", *key, now=now, **dict.fromkeys(columns, UNKNOWN))
    rows.get_table("project")[key].change(now, **told)


def _join(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    person = payload["person"]
    told = {name: payload[name] for name in ("role", "name")}
    rows.add("person", person, now=now, **told)
    _admit(rows, person, payload, now)
    if "invitation" in payload:
        rows.get_table("invitation").pop((payload["invitation"],), None)


def _admit(rows: ExpectedRows, person: str, account: Payload, now: EntryOrigin) -> None:
    """With the password and the tokens that they have had before."""
    _set_password(rows, person, account, now)
    tokens = account.get("tokens")
    if tokens is None:
        return
    _end_tokens(rows, person, now)
    for token in tokens:
        rows.get_table("token").pop((token["token"],), None)
        rows.add("token", token["token"], now=now, **_read_token_entry(token))


def _change_role(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    after = payload["after"]["role"]
    rows.get_table("person")[payload["person"],].change(now, role=after)


def _remove_person(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    person = payload["person"]
    del rows.get_table("person")[person,]
    rows.get_table("password").pop((person,), None)
    tokens = rows.get_table("token")
    for key in [key for key, row in tokens.items() if row.values["person"] == person]:
        del tokens[key]
    for agent in rows.get_table("agent").values():
        if agent.values["name"] in payload["agents"]:
            agent.change(now, owner=None)


def _change_password(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    _set_password(rows, payload["person"], payload, now)
    if payload.get("ends_tokens"):
        _end_tokens(rows, payload["person"], now)


def _set_password(
    rows: ExpectedRows, person: str, payload: Payload, now: EntryOrigin
) -> None:
    told = {name: payload.get(name, UNKNOWN) for name in ("password", "must_change")}
    rows.get_table("password").pop((person,), None)
    rows.add("password", person, now=now, **told)


def _end_tokens(rows: ExpectedRows, person: str, now: EntryOrigin) -> None:
    for token in rows.get_table("token").values():
        if token.values["person"] == person:
            token.change(now, revoked=True)


def _make_token(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add("token", payload["token"], now=now, **_read_token_entry(payload))


def _end_token(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    for each in (payload, *payload.get("also_ended", ())):
        token = rows.get_table("token").get((each["token"],))
        if token is not None:
            token.change(now, revoked=True)


def _create_agent(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        "agent",
        payload["agent"],
        now=now,
        name=payload["name"],
        owner=payload["owner"],
        description=payload["description"],
        limits=payload.get("limits"),
        disabled=False,
    )


def _change_agent(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.get_table("agent")[payload["agent"],].change(now, **payload["after"])


def _make_key(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    maker = now.actor if now.actor.startswith("user:") else None
    rows.add("key", payload["key"], now=now, **_read_key_entry(payload, maker))


def _revoke_key(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    key = rows.get_table("key").get((payload["key"],))
    if key is not None:  # made before the chain told of keys
        key.change(now, revoked=True)


def _invite(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    code = payload.get("invitation")
    if code is not None:
        rows.get_table("invitation").pop((code,), None)
        told = _read_invitation_entry(payload, now.actor)
        if "lasts_s" in payload:
            lasts = timedelta(seconds=payload["lasts_s"])
            ends = datetime.fromisoformat(now.at) + lasts
            told["expires_at"] = format_timestamp(ends)
        rows.add("invitation", code, now=now, **told)


def _withdraw(rows: ExpectedRows, payload: Payload, _now: EntryOrigin) -> None:
    rows.get_table("invitation").pop((payload.get("invitation", ""),), None)


def _read_token_entry(token: Payload) -> Values:
    """That one was ended is told; that none was ended is not, for an expired one may be."""
    return {
        "person": token["person"],
        "prefix": token["prefix"],
        "secret": token.get("secret", UNKNOWN),
        "expires_at": token["expires_at"],
        "revoked": UNKNOWN,
    }


def _read_key_entry(key: Payload, maker: str | None) -> Values:
    return {
        "agent": key["agent"],
        "name": key["key_name"],
        "prefix": key["prefix"],
        "scopes": key["scopes"],
        "expires_at": key["expires_at"],
        "secret": key.get("secret", UNKNOWN),
        "made_by": maker,
        "revoked": False,
    }


def _read_invitation_entry(invitation: Payload, by: str) -> Values:
    told = {name: invitation[name] for name in ("name", "role", "secret")}
    ends = invitation.get("expires_at", UNKNOWN)
    return {**told, "invited_by": by, "expires_at": ends}


_TAKES: dict[str, Take] = {
    "settings.recorded": _record,
    "project.created": _create_project,
    "project.changed": _change_project,
    "person.joined": _join,
    "person.changed": _change_role,
    "person.removed": _remove_person,
    "person.invited": _invite,
    "person.invitation_withdrawn": _withdraw,
    "person.password_given": _change_password,
    "password.changed": _change_password,
    "password.rehashed": _change_password,
    "token.made": _make_token,
    "token.revoked": _end_token,
    "agent.created": _create_agent,
    "agent.changed": _change_agent,
    "key.made": _make_key,
    "key.revoked": _revoke_key,
}
