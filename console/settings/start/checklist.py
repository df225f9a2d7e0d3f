"""What a new project needs, each item done or not by what is stored, not by a flag."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import Agent, Invitation, Membership, Project
from accounts.selectors import list_agents
from console.format import format_iso
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`words` say what is there, or what is to be done."""

    name: str
    head: str
    words: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """`agent` is the one with the newest key, `first_run` the first that has a step."""

    items: tuple[Item, ...]
    agent: str
    first_run: Run | None

    @property
    def done(self) -> int:
        return sum(item.done for item in self.items)

    @property
    def complete(self) -> bool:
        return self.done == len(self.items)

    @property
    def share(self) -> str:
        return f"{100 * self.done // len(self.items)}%"

    @property
    def next(self) -> str:
        """The first item that is not done; empty where all are."""
        return next((item.name for item in self.items if not item.done), "")

    @property
    def arrived_at(self) -> str:
        return format_iso(self.first_run.created_at) if self.first_run else ""


def build_checklist(project: Project) -> Checklist:
    agent = _find_agent(project.pk)
    run = _find_first_run(project.pk)
    name = make_visible_line(agent.name) if agent else ""
    return Checklist(
        items=(
            _build_name(project),
            Item(
                name="agent",
                head="An agent and its key",
                words=name or "an agent sends its key with everything it reports",
                done=agent is not None,
            ),
            Item(
                name="step",
                head="Its first step",
                words=(
                    f"{make_visible_line(run.agent.name)} is at work"
                    if run
                    else "waiting, this page will say so"
                ),
                done=run is not None,
            ),
            _build_people(project.pk),
        ),
        agent=name,
        first_run=run,
    )


def _build_name(project: Project) -> Item:
    given = project.slug.replace("-", " ").title()
    named = project.name != given
    return Item(
        name="project",
        head="A name for the project",
        words=make_visible_line(project.name) if named else f"still called {given}",
        done=named,
    )


def _build_people(project_id: int) -> Item:
    joined = Membership.objects.filter(project_id=project_id).count()
    waiting = Invitation.objects.filter(
        project_id=project_id, accepted_at=None, withdrawn_at=None
    ).count()
    words = f"{joined} joined"
    if waiting:
        words += f", {waiting} invited"
    alone = joined + waiting < 2
    return Item(
        name="people",
        head="A colleague",
        words="only you so far" if alone else words,
        done=not alone,
    )


def _find_agent(project_id: int) -> Agent | None:
    agents = list_agents(project_id=project_id).filter(keys__revoked_at=None)
    return agents.filter(keys__isnull=False).order_by("-keys__pk").first()


def _find_first_run(project_id: int) -> Run | None:
    runs = Run.objects.select_related("agent").filter(
        project_id=project_id, steps__gt=0
    )
    return exclude_system_runs(runs).order_by("pk").first()
