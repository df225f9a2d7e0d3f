"""What every console view does first: who is this, and in which project.

An outsider's project does not exist (404). A fragment asked for without a session
sends the whole page to the sign-in, never a sign-in form into a pane.
"""

from __future__ import annotations

from collections.abc import Callable
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
    """A request of a signed-in member, as `require_member` hands it on."""

    user: User
    htmx: HtmxDetails
    project: Project
    role: Role
    preferences: Preferences


def get_sign_in_time(request: ConsoleRequest) -> datetime | None:
    """When this person gave their password to this browser; None where it is not known."""
    told = request.session.get(SIGNED_IN_AT)
    return datetime.fromisoformat(told) if told else None


def require_member(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Turns view(request, …) into view(request, slug, …) for members only.

    Auditors only read: what they send is refused.
    """

    def check_sender(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if request.method not in READING and not request.role.includes(Role.REVIEWER):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return require_reader(wraps(view)(check_sender))


def require_reader(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """The same for every role, auditors too: what is sent changes nothing but one's own.

    Nothing is cached: a fragment and its page share an address.
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
        console: ConsoleRequest = request  # type: ignore[assignment]
        console.project = membership.project
        console.role = Role(membership.role)
        chosen = getattr(membership.user, "preferences", None)
        console.preferences = chosen or Preferences(user=request.user)
        return view(console, *args, **kwargs)

    return wrapper


def require_manager(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For everybody else these pages are not there, as they are not in their menu."""

    def check_manager(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not request.role.includes(Role.MANAGER):
            raise Http404
        return view(request, *args, **kwargs)

    return require_member(check_manager)


def require_sight(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For managers, and for auditors to read."""

    def check_sight(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not request.role.sees_all:
            raise Http404
        return view(request, *args, **kwargs)

    return require_member(check_sight)


def require_admin(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For what is done on pages that managers and auditors see: they are told so."""

    def check_admin(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not request.role.includes(Role.ADMIN):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return require_sight(check_admin)


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
