"""Record what a person does to what is their own.

A token, a sign-in or a password opens every project of its person, so the chain of each of
them tells of it. The entry of the first project is one commit with the change; those of the
others follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.selectors import list_projects
from reviews.administration.chain import AuditEntry, PreparedChange, perform_change

T = TypeVar("T")


def record_for_person(
    *,
    by: PersonPrincipal | None,
    user_id: int,
    entries: Sequence[AuditEntry],
    store: Callable[[datetime], T],
    check: Callable[[], None] = lambda: None,
) -> T:
    """Store a change that `check` does not refuse, with its entries.

    `by` is None where a command of the server does it. Who is in no project has no chain
    that could tell of it.
    """

    def prepare() -> PreparedChange[T]:
        check()
        return PreparedChange(entries=entries, store=store)

    def prepare_copy() -> PreparedChange[None]:
        return PreparedChange(entries=entries, store=lambda at: None)

    projects = list(list_projects(user_id=user_id).values_list("pk", flat=True))
    if not projects:
        with transaction.atomic():
            check()
            return store(timezone.now())
    first, *others = projects
    stored = perform_change(project_id=first, by=by, prepare=prepare)
    for project_id in others:
        perform_change(project_id=project_id, by=by, prepare=prepare_copy)
    return stored
