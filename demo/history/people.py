"""The people of the demo's past: who answers, how soon, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from accounts.auth import PersonPrincipal
from demo.history.calendar import draw_answer_time
from reviews.models import Kind

# Half of all answers come within so many seconds, by who gives them: one of them
# answers some calls faster than anybody could read them.
HALF_WITHIN = {"alice": 190.0, "bob": 130.0}
HASTY_SHARE = {"alice": 0.02, "bob": 0.12}
# A share of all reviews that nobody answers in time.
UNANSWERED = 0.02
# What people choose, and how often, by kind of review.
CHOICES: dict[str, dict[str, float]] = {
    Kind.PAUSE: {"approve": 0.82, "abort": 0.18},
    Kind.REQUEST: {"approve": 0.75, "deny": 0.2, "abort": 0.05},
    Kind.QUESTION: {"answer": 0.95, "abort": 0.05},
    Kind.CONFIRMATION: {"approve": 0.74, "deny": 0.21, "abort": 0.05},
    Kind.PLAN: {"approve": 0.85, "deny": 0.1, "abort": 0.05},
    Kind.EXHAUSTED: {"retry": 0.6, "skip": 0.3, "abort": 0.1},
}
NOTES: dict[str, tuple[str, ...]] = {
    "approve": ("", "", "", "Fine, go on.", "Checked the paths, go on."),
    "deny": ("Not on this branch.", "Too broad: name what you mean.", "Not today."),
    "abort": ("It goes round in circles.", "Somebody else does this already."),
    "answer": ("",),
    "retry": ("Mock the clock, then try again.", "Run it on a copy first."),
    "skip": ("Known to be flaky, there is a ticket for it.",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRuling:
    """What somebody will say, and when. No person: nobody answers in time."""

    person: PersonPrincipal | None
    after: timedelta
    action: str = ""
    note: str = ""
    answer: str | None = None


class Reviewers:
    """`people` by their names; the one who is busier takes fewer."""

    def __init__(self, people: dict[str, PersonPrincipal], *, chance: Random) -> None:
        self._people = people
        self._chance = chance

    def plan_ruling(
        self, *, kind: str, options: tuple[str, ...], at: datetime
    ) -> PlannedRuling:
        chance = self._chance
        name = chance.choices(list(self._people), weights=[1, 2])[0]
        if chance.random() < UNANSWERED:
            return PlannedRuling(person=None, after=timedelta())
        choices = CHOICES[kind]
        action = chance.choices(list(choices), weights=list(choices.values()))[0]
        after = draw_answer_time(chance, at=at, half_within=HALF_WITHIN[name])
        if action == "approve" and chance.random() < HASTY_SHARE[name]:
            after = timedelta(seconds=chance.uniform(1.0, 2.9))
        answer = None
        if action == "answer":
            answer = chance.choice(options) if options else "Do what costs least."
        return PlannedRuling(
            person=self._people[name],
            after=after,
            action=action,
            note=chance.choice(NOTES[action]),
            answer=answer,
        )
