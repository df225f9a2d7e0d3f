"""Sign-in and sign-out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.known_browsers import remember_browser
from accounts.people.sign_ins import SIGNED_IN_AT, store_sign_in
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

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        # Who has to give their password once more is signed in already.
        self.redirect_authenticated_user = "again" not in request.GET
        return super().dispatch(request, *args, **kwargs)

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
            store_sign_in(request, user=request.user)
            request.session[SIGNED_IN_AT] = timezone.now().isoformat()
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
