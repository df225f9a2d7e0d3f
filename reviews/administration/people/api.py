"""Operations on people: admins change, managers and auditors see, others see themselves."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from accounts.auth import PersonPrincipal
from accounts.models import Project, Role
from accounts.selectors import get_role, require_role
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_empty_response, build_json_response
from reviews.administration.people import invitations, services
from reviews.administration.people.password_links import create_password_link
from reviews.administration.people.schemas import (
    InvitationIn,
    NewInvitationOut,
    PasswordLinkOut,
    PeopleOut,
    PersonIn,
    PersonOut,
    serialize_invitation,
    serialize_member,
    serialize_password_link,
    serialize_sent,
)
from reviews.administration.people.selectors import (
    get_membership,
    list_invitations,
    list_members,
)

router = Router(tags=["People"])


@router.get("/people", response=PeopleOut)
def list_people(request: HttpRequest, query: Query[ProjectQuery]) -> HttpResponse:
    """Everybody with their role, and who was invited. Reviewers see themselves."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=query.project)
    all_of_it = get_role(user_id=person.user_id, project_id=project.pk).sees_all
    members = list_members(
        project_id=project.pk, only=None if all_of_it else person.user_id
    )
    waiting = list_invitations(project_id=project.pk) if all_of_it else []
    return build_json_response(
        {
            "items": [
                serialize_member(each, viewer_id=person.user_id) for each in members
            ],
            "invitations": [serialize_invitation(each) for each in waiting],
        }
    )


@router.post("/people/invitations", response={201: NewInvitationOut})
def invite_person(request: HttpRequest, body: InvitationIn) -> HttpResponse:
    """Mail somebody a link that works once, for three days. Admins only.

    Where the server sends no mail, the answer has the link, and nothing else ever has.
    """
    person, project = _get_administered(request, body.project)
    sent = invitations.invite_person(
        project=project, email=body.email, role=Role(body.role), by=person
    )
    return build_json_response(serialize_sent(sent), status=201)


@router.post("/invitations/{invitation}/send", response=NewInvitationOut)
def send_invitation(
    request: HttpRequest, invitation: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """Send a new link; the one from before ends. Admins only."""
    person, project = _get_administered(request, _get_slug(request, query))
    sent = invitations.send_invitation_again(
        project=project, code=invitation, by=person
    )
    return build_json_response(serialize_sent(sent))


@router.delete("/invitations/{invitation}", response={204: None})
def withdraw_invitation(
    request: HttpRequest, invitation: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """End an invitation: its link lets nobody in. Admins only."""
    person, project = _get_administered(request, _get_slug(request, query))
    invitations.withdraw_invitation(project_id=project.pk, code=invitation, by=person)
    return build_empty_response()


@router.patch("/people/{person}", response=PersonOut)
def change_person(
    request: HttpRequest, person: str, body: PersonIn, query: Query[ProjectQuery]
) -> HttpResponse:
    """Give somebody another role. The last admin keeps theirs. Admins only."""
    admin, project = _get_administered(request, _get_slug(request, query))
    role = Role(body.role)
    services.change_role(project_id=project.pk, code=person, role=role, by=admin)
    membership = get_membership(project_id=project.pk, code=person)
    (member,) = list_members(project_id=project.pk, only=membership.user_id)
    return build_json_response(serialize_member(member, viewer_id=admin.user_id))


@router.delete("/people/{person}", response={204: None})
def remove_person(
    request: HttpRequest, person: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """Let somebody go: what they have open here closes within seconds. Admins only."""
    admin, project = _get_administered(request, _get_slug(request, query))
    services.remove_person(project_id=project.pk, code=person, by=admin)
    return build_empty_response()


@router.post("/people/{person}/password-link", response={201: PasswordLinkOut})
def make_password_link(
    request: HttpRequest, person: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """A link with which somebody else chooses a new password, once. Admins only.

    It takes an admin who is signed in: no token makes one.
    """
    admin, project = _get_administered(request, _get_slug(request, query))
    link = create_password_link(project_id=project.pk, code=person, by=admin)
    return build_json_response(serialize_password_link(link), status=201)


def _get_slug(request: HttpRequest, query: ProjectQuery) -> str | None:
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    return query.project


def _get_administered(
    request: HttpRequest, slug: str | None
) -> tuple[PersonPrincipal, Project]:
    person = get_person(request)
    project = get_project(principal=person, slug=slug)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.ADMIN)
    return person, project
