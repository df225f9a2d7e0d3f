"""A person with a given password chooses their own before anything else."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import User


class PasswordChangeMiddleware(MiddlewareMixin):
    """Reads the user only for console pages: an agent's request has none."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object
    ) -> HttpResponse | None:
        if not request.path.startswith("/p/") and request.path != "/":
            return None
        user = request.user
        if not isinstance(user, User) or not user.must_change_password:
            return None
        address = reverse("accounts:password")
        if request.headers.get("HX-Request"):
            return HttpResponseClientRedirect(address)
        return redirect(address)
