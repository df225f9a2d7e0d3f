"""What a role may do, in words, each beside the question that is asked before it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from accounts.models import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    words: str
    is_allowed: Callable[[Role], bool]


def _includes(needed: Role, held: Role) -> bool:
    return held.includes(needed)


def _sees_all(held: Role) -> bool:
    return held.sees_all


ABILITIES = (
    Ability(
        words="See and export runs, reviews, rulings and the ledger, and have it checked",
        is_allowed=partial(_includes, Role.AUDITOR),
    ),
    Ability(
        words="See webhooks, settings and what was changed in them",
        is_allowed=_sees_all,
    ),
    Ability(
        words="Rule, claim and comment; abort runs",
        is_allowed=partial(_includes, Role.REVIEWER),
    ),
    Ability(
        words="Change policies, webhooks and the loop; reopen runs",
        is_allowed=partial(_includes, Role.MANAGER),
    ),
    Ability(
        words="Change people, agents, keys and the project",
        is_allowed=partial(_includes, Role.ADMIN),
    ),
)
