"""The tab Notifications: everybody has it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Role
from accounts.people.mail import is_mail_set_up
from console.access import ConsoleRequest
from console.models import Preferences
from console.settings.notifications.forms import CHOICES, NotificationsForm
from console.settings.notifications.way import build_mail_way
from console.settings.tabs import build_frame
from notifications.selectors import get_mail_from
from notifications.services import send_test, store_mail_choice


@require_GET
def notifications(request: ConsoleRequest) -> HttpResponse:
    chosen = request.preferences
    initial = {
        "mail_from": get_mail_from(request.user),
        "desktop_from": chosen.desktop_from,
        "sound": chosen.sound,
    }
    return _render(request, NotificationsForm(initial=initial))


@require_POST
def change(request: ConsoleRequest) -> HttpResponse:
    form = NotificationsForm(request.POST)
    if not form.is_valid():
        return _render(request, form)
    said = form.cleaned_data
    store_mail_choice(user=request.user, mail_from=said["mail_from"])
    Preferences.objects.update_or_create(
        user=request.user,
        defaults={"desktop_from": said["desktop_from"], "sound": said["sound"]},
    )
    address = reverse("console:settings-notifications", args=[request.project.slug])
    return redirect(f"{address}?saved=1")


@require_POST
def test(request: ConsoleRequest) -> HttpResponse:
    """Send a test; what became of it is kept with the person, and shown by the next page."""
    address = reverse("console:settings-notifications", args=[request.project.slug])
    if not request.user.email or not is_mail_set_up():
        return redirect(address)
    send_test(request.user)
    return redirect(f"{address}?tested=1")


def _render(request: ConsoleRequest, form: NotificationsForm) -> HttpResponse:
    context = {
        **build_frame(request, "notifications"),
        "form": form,
        "choices": CHOICES,
        "saved": "saved" in request.GET,
        "mail": build_mail_way(
            request.user, may_rule=request.role.includes(Role.REVIEWER)
        ),
        "tested": "tested" in request.GET,
    }
    status = 422 if form.errors else 200
    return render(
        request,
        "console/settings/notifications/notifications.html",
        context,
        status=status,
    )
