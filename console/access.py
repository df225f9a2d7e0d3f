"""What comes before every console view: who is this, and in which project.

An outsider's project does not exist (404). A fragment asked for without a session
sends the whole page to the sign-in, never a sign-in form into a pane.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.models import Membership, Project, Role, User
from accounts.people.sign_ins import SIGNED_IN_AT
from console.models import Preferences

P = ParamSpec("P")
READING = ("GET", "HEAD", "OPTIONS")


class ConsoleRequest(HttpRequest):
    """A request of a signed-in member, as `guard` hands it on."""

    user: User
    htmx: HtmxDetails
    project: Project
    role: Role
    preferences: Preferences


def get_sign_in_time(request: ConsoleRequest) -> datetime | None:
    """When this person gave their password to this browser; None where it is not known."""
    told = request.session.get(SIGNED_IN_AT)
    return datetime.fromisoformat(told) if told else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAccess:
    """Who may open a page of a project, and who may change something there: the least
    roles. `auditors`: they read it, too; `own`: everybody may send something there, which
    is about themselves or changes nothing."""

    reads: Role = Role.AUDITOR
    changes: Role = Role.REVIEWER
    auditors: bool = False
    own: bool = False

    def may_read(self, role: Role) -> bool:
        return role.includes(self.reads) or (self.auditors and role is Role.AUDITOR)

    def may_change(self, role: Role) -> bool:
        return self.own or role.includes(self.changes)


def guard(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse], access: PageAccess
) -> Callable[..., HttpResponse]:
    """Turn view(request, …) into view(request, slug, …) for members who may.

    A page that somebody may not read is not there, as it is not in their menu; auditors,
    and those who see a page and may not change it, are told so. Nothing is cached: a
    fragment and its page share an address.
    """

    @never_cache
    @wraps(view)
    def wrapper(
        request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_sign_in(request)
        if request.user.must_change_password:
            return _redirect_whole_page(request, reverse("console:password"))
        membership = (
            Membership.objects.select_related("project", "user__preferences")
            .filter(project__slug=slug, user_id=request.user.pk)
            .first()
        )
        if membership is None:
            raise Http404
        role = Role(membership.role)
        may_send = request.method in READING or access.may_change(role)
        if role is Role.AUDITOR and not may_send:
            raise PermissionDenied
        if not access.may_read(role):
            raise Http404
        if not may_send:
            raise PermissionDenied
        console: ConsoleRequest = request  # type: ignore[assignment]
        console.project = membership.project
        console.role = role
        chosen = getattr(membership.user, "preferences", None)
        console.preferences = chosen or Preferences(user=request.user)
        return view(console, *args, **kwargs)

    return wrapper


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    back = htmx.current_url_abs_path if htmx else request.get_full_path()
    query = urlencode({"next": back or "/"})
    return _redirect_whole_page(request, f"{resolve_url(settings.LOGIN_URL)}?{query}")


def _redirect_whole_page(request: HttpRequest, address: str) -> HttpResponse:
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(address)
    response = HttpResponseClientRedirect(address)
    response.status_code = 401
    return response
