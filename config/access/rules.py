"""Who gets in at an operation of the API, and how they show who they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ninja.security.base import AuthBase

from accounts.api_auth import (
    AGENT,
    BEARER,
    BEARER_OR_SESSION,
    PERSON,
    PERSON_ALSO_IN_SESSIONS,
)
from accounts.models import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may use an operation.

    `agents`: what a key reaches, its `own` things alone or what the whole `project` has.
    `people`: the least role, None for no person; `auditors` read what managers see.
    `own`: people reach what is theirs. `sessions` and `tokens`: how people may come;
    `beside_agents`: also from a program that runs inside an agent's session.
    `names`: whether it names something of one project, for others not there; where it is
    None, an id in the path says so.
    """

    agents: Literal["none", "own", "project"] = "none"
    people: Role | None = None
    auditors: bool = False
    own: bool = False
    sessions: bool = True
    tokens: bool = True
    beside_agents: bool = False
    names: bool | None = None

    def build_auth(self) -> list[AuthBase]:
        """Build what refuses a wrong kind of caller before the body is looked at. The role
        is asked for once it is known of which project."""
        if self.people is None:
            return [] if self.agents == "none" else [AGENT]
        if self.agents != "none":
            return list(BEARER_OR_SESSION) if self.sessions else [BEARER]
        return list(PERSON_ALSO_IN_SESSIONS if self.beside_agents else PERSON)

    @property
    def is_open(self) -> bool:
        return self.people is None and self.agents == "none"


OPEN = Access()
# Agents, about what is their own.
AGENTS = Access(agents="own")
# The same read by people.
READERS = Access(agents="own", people=Role.AUDITOR)
BEARERS = replace(READERS, sessions=False)
# What says nothing of what agents did.
EVERYBODY = Access(agents="project", people=Role.AUDITOR)
SENDERS = Access(agents="own", people=Role.REVIEWER)
PEOPLE = Access(people=Role.AUDITOR)
OWN = Access(people=Role.AUDITOR, own=True)
REVIEWERS = Access(people=Role.REVIEWER)
REVIEWERS_BESIDE_AGENTS = replace(REVIEWERS, beside_agents=True)
MANAGERS = Access(people=Role.MANAGER)
SIGHT = Access(people=Role.MANAGER, auditors=True)
ADMINS = Access(people=Role.ADMIN)
