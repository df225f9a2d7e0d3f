"""The page behind the link to a new address. Looking at it confirms nothing."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import User
from common.errors import NotFound
from reviews.administration.own.profile import confirm_address, find_confirmed_address


@never_cache
@cache_control(no_transform=True)
@require_http_methods(["GET", "POST"])
@login_required
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    user = cast(User, request.user)
    try:
        address = find_confirmed_address(user=user, token=token)
        if request.method == "POST":
            confirm_address(user=user, token=token)
            return redirect("console:home")
    except NotFound:
        ended = {
            "text": "This link was used, is too old, or is for an address that somebody "
            "else gave or that was changed since. Enter the address again at Settings → "
            "You, and a new one comes."
        }
        return render(request, "accounts/link_ended.html", ended, status=404)
    context = {"address": address}
    return render(request, "accounts/address.html", context)
