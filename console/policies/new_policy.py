"""The page that begins a policy: its name, and whose settings it starts with."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from console.access import ConsoleRequest
from console.policies.forms import NewPolicyForm
from console.policies.views import build_frame
from reviews.policies.selectors import list_policies


@require_http_methods(["GET", "POST"])
def new_policy(request: ConsoleRequest) -> HttpResponse:
    """Nothing is stored: what it leads to is the editor."""
    listed = list_policies(request.project)
    existing = [each.policy.name for each in listed]
    form = NewPolicyForm(request.POST or None, existing=existing)
    if request.method == "POST" and form.is_valid():
        slug, name = request.project.slug, form.cleaned_data["name"]
        there = reverse("console:policy-edit", args=[slug, name])
        return redirect(f"{there}?{urlencode({'start': form.cleaned_data['start']})}")
    context = {
        **build_frame(request, timezone.now()),
        "form": form,
        "started": [each.policy.name for each in listed if each.active],
    }
    status = 422 if form.errors else 200
    return render(request, "console/policies/new_policy.html", context, status=status)
