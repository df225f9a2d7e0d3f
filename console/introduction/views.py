"""The glossary, and the end of the introduction."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from console.access import ConsoleRequest
from console.format import to_milliseconds
from console.introduction.terms import list_terms
from console.models import Preferences


@require_GET
def glossary(request: ConsoleRequest) -> HttpResponse:
    context = {
        "page": "glossary",
        "slug": request.project.slug,
        "terms": list_terms(),
        "now": to_milliseconds(timezone.now()),
    }
    return render(request, "console/introduction/glossary.html", context)


@require_POST
def end_introduction(request: ConsoleRequest) -> HttpResponse:
    Preferences.objects.update_or_create(
        user=request.user, defaults={"introduced": True}
    )
    return HttpResponse(status=204)
