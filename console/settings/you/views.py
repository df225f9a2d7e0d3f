"""The tab You: everybody has it, auditors too."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.models import User
from accounts.people.mail import is_mail_set_up
from accounts.people.sign_ins import list_open_sign_ins, store_sign_in
from common.errors import DomainError, NotFound, RateLimited
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.settings.tabs import build_frame
from console.settings.you.forms import (
    LIFETIMES,
    ProfileForm,
    TokenForm,
    list_zones,
)
from console.settings.you.rows import build_sign_in_rows, build_token_rows
from reviews.administration.own import sign_ins, tokens
from reviews.administration.own.profile import change_profile, send_confirmation


@require_GET
def you(request: ConsoleRequest) -> HttpResponse:
    store_sign_in(request, user=request.user)
    return _render(request)


def _render(
    request: ConsoleRequest,
    *,
    form: TokenForm | None = None,
    profile: ProfileForm | None = None,
    secret: str = "",
) -> HttpResponse:
    at, user = timezone.now(), request.user
    own = list_open_sign_ins(user_id=request.user.pk)
    context = {
        **build_frame(request, "you"),
        "tokens": build_token_rows(tokens.list_tokens(user_id=request.user.pk), at=at),
        "sign_ins": build_sign_in_rows(
            own, session_key=request.session.session_key, at=at
        ),
        "lifetimes": LIFETIMES,
        "form": form or TokenForm(),
        "secret": secret,
        "profile": profile or ProfileForm(initial=_describe(user)),
        "zones": list_zones(),
        "mail_works": is_mail_set_up(),
        "said": request.GET.get("profile", ""),
    }
    status = 422 if any(each and each.errors for each in (form, profile)) else 200
    return render(request, "console/settings/you/you.html", context, status=status)


def _describe(user: User) -> dict[str, str]:
    return {
        "name": user.get_full_name(),
        "address": user.new_email or user.email,
        "time_zone": user.time_zone,
    }


@require_POST
def store_profile(request: ConsoleRequest) -> HttpResponse:
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _render(request, profile=form)
    stored = change_profile(
        by=build_person_principal(request.user), change=form.build_change()
    )
    return _redirect_to_profile(request, "mailed" if stored.mailed else "saved")


@require_POST
def confirm_again(request: ConsoleRequest) -> HttpResponse:
    """Mail the link once more to the address that waits for it."""
    if not request.user.new_email:
        return _redirect_to_profile(request, "saved")
    try:
        mailed = send_confirmation(user=request.user)
    except RateLimited:
        return _redirect_to_profile(request, "waits")
    return _redirect_to_profile(request, "mailed" if mailed else "failed")


def _redirect_to_profile(request: ConsoleRequest, said: str) -> HttpResponse:
    address = reverse("console:settings-you", args=[request.project.slug])
    return redirect(f"{address}?profile={said}")


@require_POST
def make_token(request: ConsoleRequest) -> HttpResponse:
    """Not behind a redirect: the token is kept nowhere from which it could be read."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _render(request, form=form)
    try:
        _, secret = tokens.create_token(
            by=build_person_principal(request.user),
            name=form.cleaned_data["name"],
            expires_at=form.get_expiry(),
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, form=form)
    return _render(request, secret=secret)


@require_POST
def revoke_token(request: ConsoleRequest, code: UUID) -> HttpResponse:
    person = build_person_principal(request.user)
    try:
        tokens.revoke_token(by=person, code=str(code))
    except NotFound:
        raise Http404 from None
    return redirect("console:settings-you", request.project.slug)


@require_POST
def end_sign_in(request: ConsoleRequest, code: UUID) -> HttpResponse:
    person = build_person_principal(request.user)
    try:
        sign_ins.end_sign_in(by=person, code=str(code))
    except NotFound:
        raise Http404 from None
    return redirect("console:settings-you", request.project.slug)


@require_POST
def end_other_sign_ins(request: ConsoleRequest) -> HttpResponse:
    sign_ins.end_other_sign_ins(
        by=build_person_principal(request.user),
        session_key=request.session.session_key,
    )
    return redirect("console:settings-you", request.project.slug)
