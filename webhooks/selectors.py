"""Reads: webhooks and deliveries, as far as a manager may see them."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.auth import PersonPrincipal
from accounts.models import Membership, Project, Role
from accounts.selectors import require_role
from common.errors import Forbidden, Invalid, NotFound
from common.ids import parse_code
from webhooks.models import Delivery, WebhookEndpoint

MANAGERS = [role.value for role in Role if role.includes(Role.MANAGER)]


def projects_managed(person: PersonPrincipal) -> list[Project]:
    """Forbidden for who manages none."""
    memberships = Membership.objects.select_related("project").filter(
        user_id=person.user_id, role__in=MANAGERS
    )
    projects = [each.project for each in memberships.order_by("project__slug")]
    if not projects:
        raise Forbidden("Webhooks are for managers.")
    return projects


def project_meant(person: PersonPrincipal, slug: str | None) -> Project:
    """The one that is named; without a name, the only one there is."""
    if slug is None:
        projects = projects_managed(person)
        if len(projects) == 1:
            return projects[0]
        message = f"one of {[project.slug for project in projects]}"
        raise Invalid(
            "You manage several projects: say which one.",
            errors=[{"loc": ["project"], "message": message}],
        )
    project = Project.objects.filter(
        slug=slug, membership__user_id=person.user_id
    ).first()
    if project is None:
        raise NotFound
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    return project


def endpoints_managed(person: PersonPrincipal) -> QuerySet[WebhookEndpoint]:
    projects = projects_managed(person)
    return WebhookEndpoint.objects.select_related("project", "created_by").filter(
        project__in=projects
    )


def endpoint_managed(person: PersonPrincipal, code: str) -> WebhookEndpoint:
    """For a stranger it does not exist; a reviewer is told that it is not theirs."""
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
    require_role(
        user_id=person.user_id, project_id=endpoint.project_id, role=Role.MANAGER
    )
    return endpoint


def delivery_managed(person: PersonPrincipal, code: str) -> Delivery:
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


def deliveries_of(endpoint: WebhookEndpoint) -> QuerySet[Delivery]:
    return (
        Delivery.objects.filter(endpoint=endpoint)
        .defer("body")
        .prefetch_related("tries")
    )
