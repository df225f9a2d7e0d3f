"""A new password: the person's own choice, or by the link that an admin made for them."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.people.sign_ins import store_sign_in
from accounts.throttle import TooBusy, take_hashing_slot
from common.errors import NotFound
from reviews.administration.own.sign_ins import (
    change_linked_password,
    change_own_password,
)
from reviews.administration.people.joining import USED
from reviews.administration.people.password_links import find_linked_user

_BUSY = "Too many people sign in at once. Try again."


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
@login_required
def change_password(request: HttpRequest) -> HttpResponse:
    """A new password. Whoever just signed in with a given one need not repeat it."""
    user = cast(User, request.user)
    form_of: type[SetPasswordForm[User]] = (
        SetPasswordForm if user.must_change_password else PasswordChangeForm
    )
    form = form_of(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        change_own_password(user=user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        store_sign_in(request, user=user)
        return redirect(settings.LOGIN_REDIRECT_URL)
    context = {"form": form, "first": user.must_change_password}
    status = 422 if form.errors else 200
    return render(request, "accounts/password.html", context, status=status)


@sensitive_post_parameters()
@never_cache
@cache_control(no_transform=True)
@require_http_methods(["GET", "POST"])
def use_password_link(request: HttpRequest, code: UUID, token: str) -> HttpResponse:
    """Looking at the page does not use the link up."""
    user = find_linked_user(code=str(code), token=token)
    if user is None:
        return _render_ended(request)
    form = SetPasswordForm(user, request.POST or None)
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        try:
            with take_hashing_slot():
                password = form.cleaned_data["new_password1"]
                change_linked_password(user=user, token=token, password=password)
            return redirect(settings.LOGIN_URL)
        except NotFound:
            return _render_ended(request)
        except TooBusy:
            form.add_error("new_password1", _BUSY)
            status = 503
    context = {"form": form, "first": True, "linked": user}
    return render(request, "accounts/password.html", context, status=status)


def _render_ended(request: HttpRequest) -> HttpResponse:
    ended = {"text": f"{USED} Ask an admin for a new one."}
    return render(request, "accounts/link_ended.html", ended, status=404)
