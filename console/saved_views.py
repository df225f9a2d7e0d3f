"""Views of a list that people keep: their own, and those shared with the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import Role, User
from console.access import ConsoleRequest
from console.models import ADDRESS_LIMIT, SavedPage, SavedView
from safetext import make_visible_line

# So many of a person's own for each list, and as many that others share.
LIMIT = 30
NAME_LIMIT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTab:
    """`by` is who shares it; empty for the viewer's own."""

    code: str
    name: str
    address: str
    by: str
    shared: bool
    current: bool
    removable: bool


class SaveForm(forms.Form):
    name = forms.CharField(max_length=NAME_LIMIT)
    shared = forms.BooleanField(required=False)

    def clean_name(self) -> str:
        return make_visible_line(self.cleaned_data["name"])[:NAME_LIMIT]


def list_saved_tabs(
    page: SavedPage, *, here: str, project_id: int, viewer: User, role: Role
) -> list[SavedTab]:
    """The viewer's own first, then what members share, each group by name: neither takes
    the room of the other. `here` is the address on screen."""
    views = SavedView.objects.filter(project_id=project_id, page=page)
    views = views.order_by("name", "pk")
    own = views.filter(owner=viewer)[:LIMIT]
    shared = (
        views.filter(shared=True, owner__membership__project_id=project_id)
        .exclude(owner=viewer)
        .select_related("owner")[:LIMIT]
    )
    manages = role.includes(Role.MANAGER)
    return [
        SavedTab(
            code=str(view.code),
            name=make_visible_line(view.name),
            address=view.address,
            by="" if view.owner_id == viewer.pk else view.owner.username,
            shared=view.shared,
            current=view.address == here,
            removable=manages or view.owner_id == viewer.pk,
        )
        for view in (*own, *shared)
    ]


def store_view(
    request: ConsoleRequest, page: SavedPage, *, address: str, errors: Sequence[str]
) -> HttpResponse:
    """Keep the list at this address under a name; the same name replaces the view.
    `errors` are those of the query in it."""
    form = SaveForm(request.POST)
    owned = SavedView.objects.filter(
        project=request.project, owner=request.user, page=page
    )
    if not form.is_valid():
        return _refuse(f"Give the view a name of at most {NAME_LIMIT} characters.")
    if errors:
        return _refuse(" ".join(errors))
    if len(address) > ADDRESS_LIMIT:
        return _refuse("The query is too long to be kept. Write a shorter one.")
    name = form.cleaned_data["name"]
    if owned.exclude(name=name).count() >= LIMIT:
        return _refuse(f"You have {LIMIT} views. Remove one first.")
    SavedView.objects.update_or_create(
        project=request.project,
        owner=request.user,
        page=page,
        name=name,
        defaults={
            "address": address,
            # Auditors change nothing that others see.
            "shared": form.cleaned_data["shared"] and request.role != Role.AUDITOR,
        },
    )
    return _go_to(request, page, address)


def delete_view(request: ConsoleRequest, page: SavedPage, code: UUID) -> HttpResponse:
    """One's own; managers also what others share."""
    views = SavedView.objects.filter(project=request.project, page=page, code=code)
    allowed = Q(owner=request.user)
    if request.role.includes(Role.MANAGER):
        allowed |= Q(shared=True)
    view = views.filter(allowed).first()
    if view is None:
        raise Http404
    view.delete()
    return _go_to(request, page, view.address)


def _go_to(request: ConsoleRequest, page: SavedPage, address: str) -> HttpResponse:
    path = reverse(f"console:{page.value}", args=[request.project.slug])
    there = f"{path}?{address}" if address else path
    return HttpResponseClientRedirect(there) if request.htmx else redirect(there)


def _refuse(words: str) -> HttpResponse:
    return HttpResponse(words, status=422, content_type="text/plain; charset=utf-8")
