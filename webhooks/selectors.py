"""Read webhooks and deliveries: managers change them, auditors see them, too."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.auth import PersonPrincipal
from accounts.models import Membership, Project, Role
from accounts.selectors import require_role, require_sight
from common.errors import Forbidden, Invalid, NotFound
from common.ids import parse_code
from webhooks.models import Delivery, WebhookEndpoint

MANAGERS = [role.value for role in Role if role.includes(Role.MANAGER)]
WHO_SEES = [role.value for role in Role if role.sees_all]


def list_managed_projects(person: PersonPrincipal) -> list[Project]:
    """The projects that the person manages; Forbidden if there are none."""
    return _list_projects(person, MANAGERS)


def _list_projects(person: PersonPrincipal, roles: list[str]) -> list[Project]:
    memberships = Membership.objects.select_related("project").filter(
        user_id=person.user_id, role__in=roles
    )
    projects = [each.project for each in memberships.order_by("project__slug")]
    if not projects:
        raise Forbidden("Webhooks are for managers.")
    return projects


def get_managed_project(person: PersonPrincipal, slug: str | None) -> Project:
    """The project with this slug or, without one, the only project."""
    if slug is None:
        projects = list_managed_projects(person)
        if len(projects) == 1:
            return projects[0]
        message = f"one of {[project.slug for project in projects]}"
        raise Invalid(
            "You manage several projects: name one.",
            errors=[{"loc": ["project"], "message": message}],
        )
    project = Project.objects.filter(
        slug=slug, membership__user_id=person.user_id
    ).first()
    if project is None:
        raise NotFound
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    return project


def list_endpoints(person: PersonPrincipal) -> QuerySet[WebhookEndpoint]:
    projects = _list_projects(person, WHO_SEES)
    return WebhookEndpoint.objects.select_related("project", "created_by").filter(
        project__in=projects
    )


def get_endpoint(
    person: PersonPrincipal, code: str, *, to_read: bool = False
) -> WebhookEndpoint:
    """NotFound for a stranger, Forbidden for a member who is not a manager; to read it,
    an auditor is enough."""
    known = parse_code(code)
    endpoint = (
        WebhookEndpoint.objects.select_related("project", "created_by")
        .filter(code=known, project__membership__user_id=person.user_id)
        .first()
        if known
        else None
    )
    if endpoint is None:
        raise NotFound
    who = {"user_id": person.user_id, "project_id": endpoint.project_id}
    if to_read:
        require_sight(**who)
    else:
        require_role(**who, role=Role.MANAGER)
    return endpoint


def get_delivery(person: PersonPrincipal, code: str) -> Delivery:
    known = parse_code(code)
    delivery = (
        Delivery.objects.select_related("endpoint")
        .filter(code=known, endpoint__project__membership__user_id=person.user_id)
        .first()
        if known
        else None
    )
    if delivery is None:
        raise NotFound
    require_role(
        user_id=person.user_id,
        project_id=delivery.endpoint.project_id,
        role=Role.MANAGER,
    )
    return delivery


def list_deliveries(endpoint: WebhookEndpoint) -> QuerySet[Delivery]:
    return (
        Delivery.objects.filter(endpoint=endpoint)
        .defer("body")
        .prefetch_related("tries")
    )
