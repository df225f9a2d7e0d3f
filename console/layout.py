"""What frames every console page: counts, fleet, the viewer's projects."""

from __future__ import annotations

import shlex
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Project, Role, User
from accounts.selectors import list_projects
from console.access import ConsoleRequest
from console.halts.rows import HaltRow, list_banner_rows
from console.models import Preferences
from console.people import Person, build_person
from console.preferences.keys import (
    PAGES,
    Key,
    format_changes,
    list_key_groups,
)
from console.runs.rows import Fleet, count_fleet
from reviews.queue.tally import Tally, count_reviews


class PageFrame:
    """Asked for piece by piece: a page that shows no fleet pays for none."""

    def __init__(
        self, *, project: Project, user: User, role: Role, preferences: Preferences
    ) -> None:
        self.project = project
        self.user = user
        self.role = role
        self.preferences = preferences

    @property
    def reviews(self) -> bool:
        return self.role.includes(Role.REVIEWER)

    @property
    def manages(self) -> bool:
        return self.role.includes(Role.MANAGER)

    @property
    def administers(self) -> bool:
        return self.role.includes(Role.ADMIN)

    @property
    def sees_all(self) -> bool:
        return self.role.sees_all

    @cached_property
    def tally(self) -> Tally:
        return count_reviews(project_id=self.project.pk)

    @cached_property
    def fleet(self) -> Fleet:
        return count_fleet(project_id=self.project.pk)

    @cached_property
    def halts(self) -> list[HaltRow]:
        """What stands in the banner."""
        return list_banner_rows(
            project_id=self.project.pk, slug=self.project.slug, at=timezone.now()
        )

    @property
    def key_changes(self) -> str:
        return format_changes(self.preferences)

    @property
    def key_groups(self) -> list[tuple[str, list[Key]]]:
        return list_key_groups(self.preferences.changed_keys)

    @property
    def key_pages(self) -> tuple[tuple[str, str], ...]:
        """What the key that goes to a page is followed by."""
        return PAGES

    @cached_property
    def viewer(self) -> Person:
        return build_person(self.user)

    @property
    def key_command(self) -> str:
        return _build_key_command(self.project.slug, self.user.username)

    @property
    def address(self) -> str:
        """Where agents and people reach this server."""
        url: str = settings.PUBLIC_URL
        return url

    @cached_property
    def others(self) -> list[Project]:
        """The viewer's other projects: no switcher for who has only one."""
        return [
            project
            for project in list_projects(user_id=self.user.pk)
            if project.pk != self.project.pk
        ]


def add_page_frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `page_frame` on pages that stand in a project."""
    if not hasattr(request, "project"):
        return {}
    return {"page_frame": get_page_frame(cast(ConsoleRequest, request))}


def get_page_frame(request: ConsoleRequest) -> PageFrame:
    """One per request: what a view has asked for is not asked for again."""
    known: PageFrame | None = request.__dict__.get("page_frame")
    if known is None:
        known = PageFrame(
            project=request.project,
            user=request.user,
            role=request.role,
            preferences=request.preferences,
        )
        request.__dict__["page_frame"] = known
    return known


def _build_key_command(project: str, owner: str) -> str:
    """How an agent gets its first key; to be run in the folder of the server."""
    words = [_get_python(), "manage.py", "agent_key", "my-agent", "--project", project]
    words += ["--owner", owner]
    data = settings.ENVIRONMENT.data.absolute()
    if settings.EMBEDDED and data != settings.ROOT / "var":
        words += ["--data", str(data)]
    return shlex.join(words)


def _get_python() -> str:
    """The interpreter that has what the server needs, as it is called from there."""
    if sys.prefix == sys.base_prefix:
        return "python"
    program = Path(sys.executable)
    if program.is_relative_to(settings.ROOT):
        return str(program.relative_to(settings.ROOT))
    return str(program)
