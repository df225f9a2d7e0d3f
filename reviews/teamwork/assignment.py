"""Giving a review to somebody: by name, or to one of those who have a role."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Role, User
from common.errors import Invalid
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change
from reviews.models import Review
from reviews.queue.filters import OPEN
from reviews.rulings.rule import ReviewChangeRequest
from reviews.rulings.take_overs import build_taken_from, get_other_claimer
from reviews.teamwork.snooze import BACK

ROLE = "role:"
# The one who has the fewest open reviews, or the one whose last one is longest ago.
LEAST_LOADED = "least_loaded"
ROUND_ROBIN = "round_robin"


@dataclass(kw_only=True)
class AssignReview(ReviewChangeRequest):
    """`to` is a user's name, a role as `role:reviewer`, or empty for everybody. Who it is
    is chosen under the project's lock, so that two at once are not given to one person."""

    to: str
    how: str
    note: str
    chosen: User | None = field(default=None, init=False)
    previous: User | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.previous = get_other_claimer(self.review, self.person, at=at)
        self.chosen = self._choose(run.project_id) if self.to else None

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        plan = Plan(run, at)
        taken = None if self.previous == self.chosen else self.previous
        plan.add_entry(
            "review.assigned",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "to": f"user:{self.chosen.code}" if self.chosen else None,
                "note": self.note,
                **self._describe_choice(),
                **build_taken_from(taken),
            },
        )
        plan.side_updates.append(
            self.build_update(
                assignee_id=self.chosen.pk if self.chosen else None,
                assigned_at=at if self.chosen else None,
                claimed_at=None,
                claimed_until=None,
                **BACK,
            )
        )
        return plan.change()

    def _describe_choice(self) -> dict[str, str]:
        if not self.to.startswith(ROLE):
            return {}
        return {"role": self.to.removeprefix(ROLE), "how": self.how}

    def _choose(self, project_id: int) -> User:
        if self.to.startswith(ROLE):
            return self._choose_by_role(project_id, self.to.removeprefix(ROLE))
        found = list_reviewers(project_id).filter(username=self.to).first()
        if found is None:
            raise _build_refusal(
                f"Nobody who reviews in this project is called {self.to}."
            )
        return found

    def _choose_by_role(self, project_id: int, role: str) -> User:
        """Not the one who has it, unless there is nobody else."""
        people = list_reviewers(project_id).filter(
            membership__project_id=project_id, membership__role=role
        )
        theirs = Review.objects.filter(
            project_id=project_id, assignee_id=OuterRef("pk")
        )
        given = theirs.filter(assigned_at__isnull=False).order_by("-assigned_at")
        people = people.annotate(
            has_it=Exists(theirs.filter(pk=self.review.pk)),
            last_given=Subquery(given.values("assigned_at")[:1]),
        )
        load = []
        if self.how == LEAST_LOADED:
            waiting = theirs.filter(state=OPEN).order_by().values("assignee_id")
            counted = waiting.annotate(count=Count("pk")).values("count")
            people = people.annotate(load=Coalesce(Subquery(counted), 0))
            load = ["load"]
        longest_ago = F("last_given").asc(nulls_first=True)
        found = people.order_by("has_it", *load, longest_ago, "username").first()
        if found is None:
            raise _build_refusal(f"Nobody in this project has the role {role}.")
        return found


def list_reviewers(project_id: int) -> QuerySet[User]:
    """Who may rule in this project, by name."""
    roles = [role for role in Role if role.includes(Role.REVIEWER)]
    people = User.objects.filter(
        membership__project_id=project_id, membership__role__in=roles, is_active=True
    )
    return people.order_by("username")


def _build_refusal(problem: str) -> Invalid:
    return Invalid(problem, errors=[{"loc": ["to"], "message": "not a reviewer here"}])
