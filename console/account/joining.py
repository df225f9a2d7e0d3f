"""The page behind the link of an invitation. Looking at it does not use the link up."""

from __future__ import annotations

from typing import cast

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.models import Invitation, User
from accounts.people.sign_ins import store_sign_in
from accounts.throttle import TooBusy, take_hashing_slot
from common.errors import DomainError
from console.account.forms import JoinForm
from console.forms import add_refusal
from reviews.administration.people.joining import (
    USED,
    find_invitation,
    join_project,
    join_with_new_account,
)

_BUSY = "Too many people sign in at once. Try again."


@sensitive_post_parameters()
@never_cache
@cache_control(no_transform=True)
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Who is signed in joins as they are; everybody else makes an account."""
    invitation = find_invitation(secret)
    if invitation is None:
        return _render_used(request, USED)
    if request.user.is_authenticated:
        return _join_as_known(request, invitation, secret)
    form = JoinForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                with take_hashing_slot():
                    user = join_with_new_account(
                        invitation=invitation,
                        secret=secret,
                        name=form.cleaned_data["username"],
                        password=form.cleaned_data["password"],
                    )
                return _sign_in(request, user, invitation)
            except TooBusy:
                form.add_error(None, _BUSY)
                status = 503
            except DomainError as refusal:
                add_refusal(form, refusal)
    context = {"invitation": invitation, "form": form}
    return render(request, "accounts/join.html", context, status=status)


def _join_as_known(
    request: HttpRequest, invitation: Invitation, secret: str
) -> HttpResponse:
    context: dict[str, object] = {"invitation": invitation, "known": request.user}
    if request.method == "GET":
        return render(request, "accounts/join.html", context)
    try:
        user = cast(User, request.user)
        join_project(invitation=invitation, secret=secret, user=user)
    except DomainError as refusal:
        context["alert"] = refusal.detail
        return render(request, "accounts/join.html", context, status=422)
    return redirect("console:queue", invitation.project.slug)


def _sign_in(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponse:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    store_sign_in(request, user=user)
    return redirect("console:queue", invitation.project.slug)


def _render_used(request: HttpRequest, text: str) -> HttpResponse:
    context = {"text": f"{text} Ask whoever invited you for a new one."}
    return render(request, "accounts/link_ended.html", context, status=404)
