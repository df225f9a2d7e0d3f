"""The matrix: of each operation who gets in and what everybody else is told, made from the
table that the server goes by."""

from __future__ import annotations

from accounts.models import Role
from config.access.rules import Access

OWN_AGENT, OTHER_AGENT, FOREIGN_AGENT = "own agent", "other agent", "foreign agent"
AGENTS = (OWN_AGENT, OTHER_AGENT, FOREIGN_AGENT)
# An admin, but of another project.
OUTSIDER = "outsider"
# A reviewer's browser, without the token of a page and with it.
SESSION, SESSION_WITH_TOKEN = "session", "session with token"
# Asked only where no token opens the door.
ADMIN_SESSION = "admin's session with token"
IN = 200


def build_row(door: str, access: Access) -> dict[str, int]:
    """By the kind of caller: 200 for whoever gets in, else the status of the refusal."""
    method, _, path = door.partition(" ")
    names = "{" in path if access.names is None else access.names
    row = {caller: _tell_agent(caller, access, names=names) for caller in AGENTS}
    row |= {str(role): _tell_person(role, access) for role in Role}
    row[OUTSIDER] = _tell_outsider(access, names=names)
    row |= _tell_sessions(access, reads=method == "GET")
    if access.own and names:
        # It is the admin's.
        others = {caller for caller in row if row[caller] == IN} - {str(Role.ADMIN)}
        row |= dict.fromkeys(others, 404)
    if not access.tokens:
        row[ADMIN_SESSION] = IN
    return row


def _tell_agent(caller: str, access: Access, *, names: bool) -> int:
    if access.agents == "none":
        return 403
    here = caller == OWN_AGENT or (caller == OTHER_AGENT and access.agents == "project")
    return IN if here or not names else 404


def _tell_person(role: Role, access: Access, *, token: bool = True) -> int:
    if access.people is None or (token and not access.tokens):
        return 403
    if role.includes(access.people):
        return IN
    return IN if access.auditors and role is Role.AUDITOR else 403


def _tell_outsider(access: Access, *, names: bool) -> int:
    if access.people is None:
        return 403
    return 404 if names else _tell_person(Role.ADMIN, access)


def _tell_sessions(access: Access, *, reads: bool) -> dict[str, int]:
    if access.people is None or not access.sessions:
        return dict.fromkeys((SESSION, SESSION_WITH_TOKEN), 401)
    reviewer = _tell_person(Role.REVIEWER, access, token=False)
    return {SESSION: reviewer if reads else 403, SESSION_WITH_TOKEN: reviewer}
