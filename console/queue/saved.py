"""Views of the queue that people keep."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from console.access import ConsoleRequest
from console.models import SavedPage
from console.queue.address import read_state
from console.saved_views import delete_view, store_view


@require_POST
def save_view(request: ConsoleRequest) -> HttpResponse:
    state = read_state(request.POST)
    address = state.build_query_string()
    errors = state.query.errors
    return store_view(request, SavedPage.QUEUE, address=address, errors=errors)


@require_POST
def remove_view(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return delete_view(request, SavedPage.QUEUE, code)
