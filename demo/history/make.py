"""Make the demo's past: its people, and all runs of its agents in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from random import Random

from django.db import transaction

from accounts.auth import AgentPrincipal, PersonPrincipal, build_person_principal
from accounts.models import Agent, Membership, Project, Role, User
from demo.agents.plan import RunPlan
from demo.agents.profile import Profile
from demo.agents.profiles import PROFILES
from demo.history.calendar import list_beginnings
from demo.history.halt import BEFORE_NOW, PastHalt
from demo.history.people import Reviewers
from demo.history.run import PastRun
from demo.history.writer import PastWriter
from ledger.models import Run

SEED = 1
WEEKS = 6
MODELS = ("demo-large", "demo-small")
# Runs of the past are short: weeks of them are made before the console opens.
LONGEST = 10
TROUBLE_AFTER = 5
# Few runs of which many ask for somebody: pages that compare rulings need enough of them.
TROUBLED = 0.65
# They cannot sign in: nobody knows a password of theirs.
PEOPLE = {"alice": Role.MANAGER, "bob": Role.REVIEWER}


def is_without_past(project: Project) -> bool:
    """Whether nothing has happened yet and the names of its people are free."""
    taken = User.objects.filter(username__in=PEOPLE).exists()
    return not taken and not Run.objects.filter(project=project).exists()


def make_past(
    project: Project,
    *,
    weeks: int = WEEKS,
    now: datetime | None = None,
    seed: int = SEED,
) -> int:
    """Weeks of work until now, the same for the same seed; returns how many runs.

    One transaction: where it is broken off, nothing of it is there, and the next start
    begins anew.
    """
    now = now or datetime.now(UTC)
    chance = Random(seed)  # noqa: S311 (nothing secret in a demo)
    with transaction.atomic():
        people = {name: _add_person(project, name) for name in PEOPLE}
        writer = PastWriter()
        reviewers = Reviewers(people, chance=chance)
        runs = list(_plan_runs(project, writer, reviewers, chance, now, weeks))
        begun = [(at, run.perform()) for at, run in runs]
        if weeks:
            halt = PastHalt(project=project, people=people, writer=writer)
            begun.append((now - BEFORE_NOW, halt.perform()))
        _perform_in_order(begun, writer, now)
    return len(runs)


def _perform_in_order(
    begun: list[tuple[datetime, Iterator[datetime]]], writer: PastWriter, now: datetime
) -> None:
    """Always the run that goes on first: the ledger of a project knows one order.

    What would go on in the future stays as it is; its agent may take it up.
    """
    order = count()
    waiting = [(at, next(order), moments) for at, moments in begun]
    heapq.heapify(waiting)
    while waiting:
        at, _, moments = heapq.heappop(waiting)
        if at >= now:
            continue
        writer.at = at
        goes_on_at = next(moments, None)
        if goes_on_at is not None:
            heapq.heappush(waiting, (goes_on_at, next(order), moments))


def _plan_runs(
    project: Project,
    writer: PastWriter,
    reviewers: Reviewers,
    chance: Random,
    now: datetime,
    weeks: int,
) -> Iterator[tuple[datetime, PastRun]]:
    agents = Agent.objects.filter(project=project).in_bulk(field_name="pk").values()
    known = {agent.name: _build_principal(agent, project) for agent in agents}
    for number, profile in enumerate(PROFILES):
        if any(turn.starts for turn in profile.usual):
            continue  # the past has no trees, and must not use up the limit of today
        short = _shorten(profile)
        for at in list_beginnings(chance, now=now, weeks=weeks):
            troubled = chance.random() < TROUBLED
            yield (
                at,
                PastRun(
                    agent=known[profile.name],
                    plan=RunPlan(short, chance=chance, troubled=troubled),
                    model=MODELS[number % len(MODELS)],
                    writer=writer,
                    reviewers=reviewers,
                    chance=chance,
                ),
            )


def _shorten(profile: Profile) -> Profile:
    trouble = profile.trouble
    if trouble is not None:
        trouble = replace(trouble, after=min(trouble.after, TROUBLE_AFTER))
    length = min(profile.length, LONGEST)
    # Fewer steps do the same work.
    tokens = profile.tokens * profile.length // length
    return replace(profile, length=length, trouble=trouble, tokens=tokens)


def _build_principal(agent: Agent, project: Project) -> AgentPrincipal:
    return AgentPrincipal(
        agent_id=agent.pk,
        agent_code=str(agent.code),
        agent_name=agent.name,
        project_id=project.pk,
        project_slug=project.slug,
        key_id=0,
    )


def _add_person(project: Project, name: str) -> PersonPrincipal:
    user = User(username=name, first_name=name.title())
    user.set_unusable_password()
    user.save()
    Membership.objects.create(project=project, user=user, role=PEOPLE[name])
    return build_person_principal(user)
