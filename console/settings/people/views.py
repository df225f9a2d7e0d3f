"""The tab People: admins change it, managers and auditors see it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.models import Role
from accounts.people.mail import is_mail_set_up
from common.errors import DomainError, NotFound
from console.access import ConsoleRequest, require_admin, require_sight
from console.forms import add_refusal, get_first_error
from console.settings.people.forms import InviteForm, RoleForm
from console.settings.people.rows import (
    build_ability_rows,
    build_invitation_rows,
    build_member_rows,
)
from console.settings.tabs import build_frame
from reviews.administration.people import invitations, services
from reviews.administration.people.password_links import create_password_link
from reviews.administration.people.selectors import (
    get_membership,
    list_invitations,
    list_members,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLink:
    """A link that is shown once, to be handed on; or whom it was mailed to."""

    head: str
    text: str
    address: str = ""


@require_GET
@require_sight
def people(request: ConsoleRequest) -> HttpResponse:
    return _render(request)


def _render(
    request: ConsoleRequest,
    *,
    form: InviteForm | None = None,
    alert: str = "",
    link: ShownLink | None = None,
) -> HttpResponse:
    at = timezone.now()
    members = list_members(project_id=request.project.pk)
    waiting = list_invitations(project_id=request.project.pk)
    context = {
        **build_frame(request, "people"),
        "members": build_member_rows(members, viewer_id=request.user.pk, at=at),
        "invitations": build_invitation_rows(waiting, members=members, at=at),
        "roles": Role.values,
        "abilities": build_ability_rows(),
        "form": form or InviteForm(),
        "mails": is_mail_set_up(),
        "alert": alert,
        "link": link,
    }
    status = 422 if alert or (form and form.errors) else 200
    return render(
        request, "console/settings/people/people.html", context, status=status
    )


@require_POST
@require_admin
def invite(request: ConsoleRequest) -> HttpResponse:
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _render(request, form=form)
    try:
        sent = invitations.invite_person(
            project=request.project,
            email=form.cleaned_data["email"],
            role=Role(form.cleaned_data["role"]),
            by=build_person_principal(request.user),
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, form=form)
    return _render_sent(request, sent)


@require_POST
@require_admin
def send_again(request: ConsoleRequest, code: UUID) -> HttpResponse:
    try:
        sent = invitations.send_invitation_again(
            project=request.project,
            code=str(code),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    return _render_sent(request, sent)


def _render_sent(
    request: ConsoleRequest, sent: invitations.SentInvitation
) -> HttpResponse:
    """Not behind a redirect: the link is kept nowhere from which it could be read."""
    email = sent.invitation.email
    if sent.mailed:
        link = ShownLink(
            head=f"The invitation is on its way to {email}.",
            text="Its link works once, for three days.",
        )
    else:
        link = ShownLink(
            head=f"Send this link to {email}: it is shown only once.",
            text="It works once, for three days. Whoever opens it first gets in.",
            address=sent.address,
        )
    return _render(request, link=link)


@require_POST
@require_admin
def withdraw(request: ConsoleRequest, code: UUID) -> HttpResponse:
    try:
        invitations.withdraw_invitation(
            project_id=request.project.pk,
            code=str(code),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    return redirect("console:settings-people", request.project.slug)


@require_POST
@require_admin
def change_role(request: ConsoleRequest, code: UUID) -> HttpResponse:
    form = RoleForm(request.POST)
    _require_person(request, code)
    if not form.is_valid():
        return _render(request, alert=get_first_error(form))
    try:
        services.change_role(
            project_id=request.project.pk,
            code=str(code),
            role=Role(form.cleaned_data["role"]),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    return redirect("console:settings-people", request.project.slug)


def _require_person(request: ConsoleRequest, code: UUID) -> None:
    try:
        get_membership(project_id=request.project.pk, code=str(code))
    except NotFound:
        raise Http404 from None


@require_POST
@require_admin
def remove(request: ConsoleRequest, code: UUID) -> HttpResponse:
    try:
        services.remove_person(
            project_id=request.project.pk,
            code=str(code),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    if code == request.user.code:
        return redirect("console:home")
    return redirect("console:settings-people", request.project.slug)


@require_POST
@require_admin
def password_link(request: ConsoleRequest, code: UUID) -> HttpResponse:
    try:
        made = create_password_link(
            project_id=request.project.pk,
            code=str(code),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    if made.mailed_to:
        link = ShownLink(
            head=f"A link for a new password is on its way to {made.mailed_to}.",
            text="It works once, for three days.",
        )
    else:
        link = ShownLink(
            head="Send this link to them: it is shown only once.",
            text="It lets its reader choose a new password, once, for three days.",
            address=made.address,
        )
    return _render(request, link=link)
