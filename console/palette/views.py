"""The part of the palette that the server finds."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.palette.search import TEXT_LIMIT, search
from ledger.run_list.scope import Scope


@require_GET
def palette(request: ConsoleRequest) -> HttpResponse:
    text = request.GET.get("q", "").replace("\x00", " ").strip()[:TEXT_LIMIT]
    here = (request.project.pk,)
    scope = Scope(
        project_ids=here, administration_of=here if request.role.sees_all else ()
    )
    groups = search(scope, text, slug=request.project.slug) if text else []
    return render(request, "console/palette/_found.html", {"groups": groups})
