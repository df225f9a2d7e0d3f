"""Sign-in, sign-out, and the new password a person is asked for at first."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    SetPasswordForm,
)
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.known_browsers import remember_browser
from accounts.models import User
from accounts.services import store_own_password
from accounts.throttle import (
    TooBusy,
    Wait,
    clean_name,
    count_attempt,
    forget_attempts,
    take_hashing_slot,
    undo_attempt,
)

_BUSY = Wait(words="Too many people sign in at once. Try again.", seconds=2)


class SignIn(LoginView):
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        name = clean_name(request.POST.get("username", ""))
        wait = count_attempt(request, name)
        if wait is not None:
            return self._wait(429, wait)
        try:
            with take_hashing_slot():
                response = super().post(request, *args, **kwargs)
        except TooBusy:
            undo_attempt(request, name)
            return self._wait(503, _BUSY)
        if request.user.is_authenticated:
            forget_attempts(request, name)
            remember_browser(response, name)
        return response

    def _wait(self, status: int, wait: Wait) -> HttpResponse:
        typed = {"username": self.request.POST.get("username", "")}
        form = AuthenticationForm(self.request, initial=typed)
        context = self.get_context_data(form=form, wait=wait.words)
        response = self.render_to_response(context, status=status)
        response["Retry-After"] = str(wait.seconds)
        return response


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


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
        store_own_password(user=user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        return redirect(settings.LOGIN_REDIRECT_URL)
    context = {"form": form, "first": user.must_change_password}
    status = 422 if form.errors else 200
    return render(request, "accounts/password.html", context, status=status)
