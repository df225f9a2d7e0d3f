"""The tab Keyboard: everybody has it, auditors too."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from console.access import ConsoleRequest
from console.models import Preferences
from console.settings.keyboard.forms import (
    KeyboardForm,
    build_initial,
    list_field_groups,
)
from console.settings.tabs import build_frame


@require_GET
def keyboard(request: ConsoleRequest) -> HttpResponse:
    chosen = request.preferences
    initial = build_initial(
        single_keys=chosen.single_keys,
        opens_next=chosen.opens_next,
        takes_back=chosen.takes_back,
        changed=chosen.changed_keys,
    )
    return _render(request, KeyboardForm(initial=initial))


@require_POST
def change(request: ConsoleRequest) -> HttpResponse:
    form = KeyboardForm(request.POST)
    if not form.is_valid():
        return _render(request, form)
    Preferences.objects.update_or_create(
        user=request.user,
        defaults={
            "single_keys": form.cleaned_data["single_keys"],
            "opens_next": form.cleaned_data["opens_next"],
            "takes_back": form.cleaned_data["takes_back"],
            "changed_keys": form.get_changes(),
        },
    )
    address = reverse("console:settings-keyboard", args=[request.project.slug])
    return redirect(f"{address}?saved=1")


@require_POST
def switch(request: ConsoleRequest) -> HttpResponse:
    """From the keyboard help: single keys on or off."""
    on = request.POST.get("single_keys") == "on"
    Preferences.objects.update_or_create(
        user=request.user, defaults={"single_keys": on}
    )
    return HttpResponse(status=204)


def _render(request: ConsoleRequest, form: KeyboardForm) -> HttpResponse:
    context = {
        **build_frame(request, "keyboard"),
        "form": form,
        "saved": "saved" in request.GET,
        "groups": list(list_field_groups(form)),
    }
    status = 422 if form.errors else 200
    return render(
        request, "console/settings/keyboard/keyboard.html", context, status=status
    )
