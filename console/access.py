"""What every console view does first: who is this, and in which project.

An outsider's project does not exist (404). A fragment asked for without a session
sends the whole page to the sign-in, never a sign-in form into a pane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.models import Membership, Project, Role, User

P = ParamSpec("P")


class ConsoleRequest(HttpRequest):
    """A request of a signed-in member, as `require_member` hands it on."""

    user: User
    htmx: HtmxDetails
    project: Project
    role: Role


def require_member(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Turns view(request, …) into view(request, slug, …) for members only.

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
            return _redirect_whole_page(request, reverse("accounts:password"))
        membership = (
            Membership.objects.select_related("project")
            .filter(project__slug=slug, user_id=request.user.pk)
            .first()
        )
        if membership is None:
            raise Http404
        console: ConsoleRequest = request  # type: ignore[assignment]
        console.project = membership.project
        console.role = Role(membership.role)
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
