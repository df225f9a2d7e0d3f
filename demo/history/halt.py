"""A halt of the demo's past: of runs with a label that none of its agents uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.auth import PersonPrincipal
from accounts.models import Project
from demo.history.writer import PastWriter
from reviews.halts.schemas import HaltScopeIn
from reviews.halts.services import submit_halt, submit_release

BEFORE_NOW = timedelta(days=3, hours=2)
STOOD = timedelta(minutes=41)
LABEL = "env:staging"
REASON = "The database of staging is restored: nothing may write to it."
RELEASED = "Restored, and the counts are right."


@dataclass(frozen=True, slots=True, kw_only=True)
class PastHalt:
    project: Project
    people: Mapping[str, PersonPrincipal]
    writer: PastWriter

    def perform(self) -> Iterator[datetime]:
        """Performs one act after the other; yields when the next one is due."""
        perform = self.writer.perform
        made = submit_halt(
            person=self.people["bob"],
            project_id=self.project.pk,
            scope=HaltScopeIn(label=LABEL),
            reason=REASON,
            perform=perform,
        )
        yield made.at + STOOD
        submit_release(
            person=self.people["alice"],
            code=str(made.code),
            reason=RELEASED,
            perform=perform,
        )
