"""The editor of a policy: form and YAML in step, checked as one types, saved and tried."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, StaleVersion
from common.ids import parse_code
from console.access import ConsoleRequest, require_manager
from console.fragments import build_partial, render_fragment
from console.policies.changes import ShownChange, list_changes
from console.policies.drafts import Draft, Editor, build_draft, build_editor, read_draft
from console.policies.forms import NoteForm
from console.policies.page import DAYS, Rail, build_rail
from console.policies.views import build_frame, find_or_404, read_number, redirect_after
from reviews.models import Backtest
from reviews.policies.backtest.services import Period, start_backtest
from reviews.policies.selectors import (
    Document,
    find_document_in_force,
    get_version,
    read_document,
)
from reviews.policies.services import create_version
from reviews.rule_report.counts import count_rules

FOLDER = "console/policies/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """A version that somebody else stored after this editor was opened."""

    number: int
    by: str
    note: str
    changes: tuple[ShownChange, ...]


@require_http_methods(["GET", "POST"])
@require_manager
@find_or_404
def edit(request: ConsoleRequest, name: str) -> HttpResponse:
    """GET begins with a stored version, the one in force unless another is named."""
    if request.method == "POST":
        return _save(request, name)
    at = timezone.now()
    rail = build_rail(request.project, name, at)
    document = _find_tried(request, name)
    if document is None:
        number = read_number(request.GET, "version") or rail.in_force or rail.newest
        document = read_document(get_version(request.project, name, number))
    return _render(request, name, build_draft(document), at=at, rail=rail)


def _find_tried(request: ConsoleRequest, name: str) -> Document | None:
    """The draft that a backtest has tried, if the address names one."""
    code = parse_code(request.GET.get("backtest", ""))
    if code is None:
        return None
    rows = Backtest.objects.filter(project=request.project, policy=name, code=code)
    found = rows.first()
    return json.loads(found.document) if found else None


@require_POST
@require_manager
@find_or_404
def check(request: ConsoleRequest, name: str) -> HttpResponse:
    """While one types: what is wrong, what changes, and the other side in step."""
    records = _list_records(request, timezone.now())
    draft = _read_posted(request, records)
    in_force = find_document_in_force(request.project, name)
    editor = build_editor(draft, in_force, records=records)
    newer = _find_newer(request, name)
    parts = [
        _build_part("draft-state", editor=editor),
        _build_part("problems", editor=editor),
        _build_part("draft-changes", editor=editor),
        _build_part("newer", newer=newer),
    ]
    button = request.POST.get("do", "")
    if button or request.POST.get("side") == "form":
        parts.append(_build_part("yaml-side", editor=editor))
    else:
        parts.append(_build_part("gutter", editor=editor))
    if button or (request.POST.get("side") != "form" and draft.readable):
        address = _build_check_address(request, name)
        parts.append(_build_part("fields", editor=editor, check=address))
    elif draft.readable:
        parts += [
            build_partial(
                f"#{row.field.id}-state",
                "outerHTML",
                render_fragment(f"{FOLDER}_field_state.html", row=row),
            )
            for row in editor.rows
        ]
    return HttpResponse("".join(parts))


def _build_part(name: str, **context: object) -> SafeString:
    template = f"{FOLDER}_{name.replace('-', '_')}.html"
    return build_partial(f"#{name}", "outerHTML", render_fragment(template, **context))


def _save(request: ConsoleRequest, name: str) -> HttpResponse:
    at = timezone.now()
    draft = _read_posted(request, _list_records(request, at))
    rail = build_rail(request.project, name, at)
    form = NoteForm(request.POST)
    if request.POST.get("do") not in ("save", "publish", "backtest"):
        return _render(request, name, draft, at=at, rail=rail)
    if request.POST.get("do") == "backtest" and not draft.count:
        return _start_backtest(request, name, draft, form, at=at, rail=rail)
    if draft.count or not form.is_valid():
        return _render(request, name, draft, at=at, rail=rail, form=form, status=422)
    newer = _find_newer(request, name)
    if newer is not None:
        return _render(
            request, name, draft, at=at, rail=rail, form=form, newer=newer, status=409
        )
    try:
        outcome = create_version(
            project_id=request.project.pk,
            name=name,
            document=draft.document,
            note=form.cleaned_data["note"],
            author=build_person_principal(request.user),
            activate=request.POST.get("do") == "publish",
            based_on=form.cleaned_data["in_force"],
        )
    except StaleVersion:
        rail = build_rail(request.project, name, at)
        newer = _find_newer(request, name)
        return _render(
            request, name, draft, at=at, rail=rail, form=form, newer=newer, status=409
        )
    except DomainError as refusal:
        form.add_error(None, refusal.detail)
        status = refusal.status
        return _render(request, name, draft, at=at, rail=rail, form=form, status=status)
    return redirect_after(request, name, outcome)


def _start_backtest(
    request: ConsoleRequest,
    name: str,
    draft: Draft,
    form: NoteForm,
    *,
    at: datetime,
    rail: Rail,
) -> HttpResponse:
    try:
        backtest = start_backtest(
            project=request.project,
            user_id=request.user.pk,
            policy=name,
            document=draft.document,
            version=None,
            period=Period(),
        )
    except DomainError as refusal:
        form.add_error(None, refusal.detail)
        status = refusal.status
        return _render(request, name, draft, at=at, rail=rail, form=form, status=status)
    return redirect("console:backtest", request.project.slug, backtest.code)


def _render(
    request: ConsoleRequest,
    name: str,
    draft: Draft,
    *,
    at: datetime,
    rail: Rail,
    form: NoteForm | None = None,
    newer: Newer | None = None,
    status: int = 200,
) -> HttpResponse:
    """With all that was typed. Whoever has been shown what is newer has seen it."""
    in_force: Document = find_document_in_force(request.project, name)
    editor: Editor = build_editor(draft, in_force, records=_list_records(request, at))
    context = {
        **build_frame(request, at),
        "name": name,
        "rail": rail,
        "editor": editor,
        "form": form or NoteForm(),
        "newer": newer,
        "next": rail.newest + 1,
        "check": _build_check_address(request, name),
    }
    return render(request, f"{FOLDER}editor.html", context, status=status)


def _read_posted(request: ConsoleRequest, records: Mapping[str, str]) -> Draft:
    posted = {name: str(value) for name, value in request.POST.items()}
    side = posted.get("side", "")
    return read_draft(posted.get("yaml", ""), posted, side=side, rules=tuple(records))


def _find_newer(request: ConsoleRequest, name: str) -> Newer | None:
    """The newest version, if the editor was opened before it was stored."""
    seen = read_number(request.POST, "seen")
    rail = build_rail(request.project, name, timezone.now())
    if not seen or rail.newest <= seen:
        return None
    version = get_version(request.project, name, rail.newest)
    before = read_document(get_version(request.project, name, seen))
    return Newer(
        number=rail.newest,
        by=rail.items[0].by.name if rail.items[0].by else "",
        note=rail.items[0].note,
        changes=list_changes(before, read_document(version)),
    )


def _build_check_address(request: ConsoleRequest, name: str) -> str:
    return reverse("console:policy-check", args=[request.project.slug, name])


def _list_records(request: ConsoleRequest, at: datetime) -> dict[str, str]:
    """Of each rule that asked somebody lately, how people answered."""
    counts = count_rules(project_id=request.project.pk, days=DAYS, at=at)
    return {
        count.rule: f"asked {count.asked}, approved {count.approved}"
        for count in counts.rules
    }
