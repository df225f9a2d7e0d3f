"""What the API of projects takes and answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from accounts.models import Project
from common.fields import Id, Moment
from ledger.chain import format_timestamp
from reviews.schemas.fields import Body, Cleaned

ProjectName = Annotated[str, StringConstraints(min_length=1, max_length=120), Cleaned]
# It stands in addresses, and is never changed.
SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Slug = Annotated[str, StringConstraints(pattern=SLUG_PATTERN, max_length=64)]
PolicyName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
# From a month to ten years.
DAYS_MIN, DAYS_MAX = 30, 3_650
Days = Annotated[int, Field(ge=DAYS_MIN, le=DAYS_MAX)]


class ProjectIn(Body):
    """`slug` stands in addresses and does not change."""

    name: ProjectName
    slug: Slug


class ProjectChange(Body):
    """What is left out stays as it is. `retention_days` null is for ever."""

    name: ProjectName | None = None
    default_policy: PolicyName | None = None
    agents_choose_policy: bool | None = None
    retention_days: Days | None = None

    def list_wanted(self) -> dict[str, Any]:
        """Null says something of `retention_days` alone."""
        given = self.model_dump(exclude_unset=True).items()
        return {
            name: value
            for name, value in given
            if value is not None or name == "retention_days"
        }


class ProjectOut(BaseModel):
    """`default_policy` judges the runs that no assignment takes. `retention_days` is for how
    long exports of the ledger are listed, null for ever; the ledger itself is always kept."""

    id: Id
    slug: str
    name: str
    default_policy: str
    agents_choose_policy: bool
    retention_days: int | None
    role: str
    created_at: Moment


def serialize_project(project: Project, *, role: str) -> dict[str, Any]:
    return {
        "id": str(project.code),
        "slug": project.slug,
        "name": project.name,
        "default_policy": project.default_policy,
        "agents_choose_policy": project.agents_choose_policy,
        "retention_days": project.retention_days,
        "role": role,
        "created_at": format_timestamp(project.created_at),
    }
