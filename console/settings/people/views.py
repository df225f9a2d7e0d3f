"""The tab People: admins change it, managers and auditors see it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.models import Membership, Role
from accounts.people.mail import is_mail_set_up
from accounts.people.passwords import find_password_fault
from common.errors import DomainError, NotFound
from console.access import ConsoleRequest
from console.forms import add_refusal
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
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLink:
    """A link that is shown once, to be handed on; or whom it was mailed to."""

    head: str
    text: str
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRole:
    """The role that a person had, and has now."""

    code: str
    name: str
    before: str
    now: str


# In the session: project, person, role before and after.
_CHANGED = "role_changed"


@require_GET
def people(request: ConsoleRequest) -> HttpResponse:
    return _render(request)


def _render(
    request: ConsoleRequest,
    *,
    form: InviteForm | None = None,
    alert: str = "",
    link: ShownLink | None = None,
    role: tuple[str, RoleForm] | None = None,
) -> HttpResponse:
    """`role` is the form that is shown again, behind the code of its person."""
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
        "changed": _take_changed_role(request),
        "asked": {"code": role[0], "form": role[1]} if role else None,
    }
    status = 422 if alert or role or (form and form.errors) else 200
    return render(
        request, "console/settings/people/people.html", context, status=status
    )


@require_POST
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
def change_role(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """An admin may do everything: to make one takes the password of who does it."""
    form, before = RoleForm(request.POST), _get_membership(request, code)
    role = form.cleaned_data["role"] if form.is_valid() else None
    if role == Role.ADMIN:
        given = form.cleaned_data["password"]
        fault = find_password_fault(request, user=request.user, password=given)
        if fault:
            form.add_error("password", fault)
    if role is None or form.errors:
        return _render(request, role=(str(code), form))
    try:
        services.change_role(
            project_id=request.project.pk,
            code=str(code),
            role=Role(role),
            by=build_person_principal(request.user),
        )
    except NotFound:
        raise Http404 from None
    except DomainError as refusal:
        return _render(request, alert=refusal.detail)
    if code == request.user.code and not Role(role).sees_all:
        return redirect("console:home")
    request.session[_CHANGED] = [request.project.slug, str(code), before.role, role]
    return redirect("console:settings-people", request.project.slug)


def _take_changed_role(request: ConsoleRequest) -> ChangedRole | None:
    """The change that was made just now, told once with the way back."""
    told = request.session.get(_CHANGED)
    if told is None or told[0] != request.project.slug:
        return None
    del request.session[_CHANGED]
    _, code, before, now = told
    try:
        held = get_membership(project_id=request.project.pk, code=code)
    except NotFound:
        return None
    if held.role != now or not request.role.includes(Role.ADMIN):
        return None
    name = make_visible_line(held.user.username)
    return ChangedRole(code=code, name=name, before=before, now=now)


def _get_membership(request: ConsoleRequest, code: UUID) -> Membership:
    try:
        return get_membership(project_id=request.project.pk, code=str(code))
    except NotFound:
        raise Http404 from None


@require_POST
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
