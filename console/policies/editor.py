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
from common.errors import DomainError, NotFound, StaleVersion
from common.ids import parse_code
from console.access import ConsoleRequest
from console.fragments import build_partial, render_fragment
from console.policies.changes import ShownChange, list_changes
from console.policies.draft_notes import get_draft_note, store_draft_note
from console.policies.drafts import Draft, Editor, build_draft, build_editor, read_draft
from console.policies.forms import NoteForm, is_policy_name
from console.policies.page import DAYS, Rail, build_new_rail, build_rail
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
from reviews.queue.rule_counts import count_rules

FOLDER = "console/policies/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """A version that somebody else stored after this editor was opened."""

    number: int
    by: str
    note: str
    changes: tuple[ShownChange, ...]


@require_http_methods(["GET", "POST"])
@find_or_404
def edit(request: ConsoleRequest, name: str) -> HttpResponse:
    """GET begins with a stored version, the one in force unless another is named."""
    if request.method == "POST":
        return _save(request, name)
    at = timezone.now()
    rail = _build_rail(request, name, at)
    tried = _find_tried(request, name)
    document = json.loads(tried.document) if tried else _find_start(request, rail)
    form = NoteForm(
        initial={"note": get_draft_note(request, tried.code if tried else None)}
    )
    return _render(request, name, build_draft(document), at=at, rail=rail, form=form)


def _build_rail(request: ConsoleRequest, name: str, at: datetime) -> Rail:
    """Also of a policy that is only being written; NotFound if none may be called so."""
    try:
        return build_rail(request.project, name, at)
    except NotFound:
        if not is_policy_name(name):
            raise
        return build_new_rail(request.project, name)


def _find_start(request: ConsoleRequest, rail: Rail) -> Document:
    """A version of the policy; of a new one, the policy that the address names."""
    if not rail.newest:
        return find_document_in_force(request.project, request.GET.get("start", ""))
    number = read_number(request.GET, "version") or rail.in_force or rail.newest
    return read_document(get_version(request.project, rail.name, number))


def _find_tried(request: ConsoleRequest, name: str) -> Backtest | None:
    """The backtest whose draft is to be changed further, if the address names one."""
    code = parse_code(request.GET.get("backtest", ""))
    if code is None:
        return None
    rows = Backtest.objects.filter(project=request.project, policy=name, code=code)
    return rows.first()


@require_POST
@find_or_404
def check(request: ConsoleRequest, name: str) -> HttpResponse:
    """While one types: what is wrong, what changes, and the other side in step."""
    records = _list_records(request, timezone.now())
    in_force = find_document_in_force(request.project, name)
    draft = _read_posted(request, records, in_force)
    editor = build_editor(draft, in_force, records=records)
    newer = _find_newer(request, name)
    address = _build_check_address(request, name)
    parts = [
        _build_part("draft-state", editor=editor),
        _build_part("problems", editor=editor),
        _build_part("draft-changes", editor=editor, check=address),
        _build_part("newer", newer=newer),
    ]
    button = request.POST.get("do", "")
    if button or request.POST.get("side") == "form":
        parts.append(_build_part("yaml-side", editor=editor))
    else:
        parts.append(_build_part("gutter", editor=editor))
    if button or (request.POST.get("side") != "form" and draft.readable):
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
    in_force = find_document_in_force(request.project, name)
    draft = _read_posted(request, _list_records(request, at), in_force)
    rail = _build_rail(request, name, at)
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
            apply_to_running=form.cleaned_data["apply_to_running"],
            based_on=form.cleaned_data["in_force"],
        )
    except StaleVersion:
        rail = _build_rail(request, name, at)
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
    store_draft_note(request, backtest.code, str(form["note"].value() or "").strip())
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
        "back": _build_back_address(request, rail),
    }
    return render(request, f"{FOLDER}editor.html", context, status=status)


def _read_posted(
    request: ConsoleRequest, records: Mapping[str, str], in_force: Document
) -> Draft:
    posted = {name: str(value) for name, value in request.POST.items()}
    return read_draft(
        posted.get("yaml", ""),
        posted,
        side=posted.get("side", ""),
        rules=tuple(records),
        in_force=in_force,
    )


def _find_newer(request: ConsoleRequest, name: str) -> Newer | None:
    """The newest version, if the editor was opened before it was stored."""
    seen = read_number(request.POST, "seen")
    rail = _build_rail(request, name, timezone.now())
    if seen is None or rail.newest <= seen:
        return None
    version = get_version(request.project, name, rail.newest)
    before: Document = {}
    if seen:
        before = read_document(get_version(request.project, name, seen))
    return Newer(
        number=rail.newest,
        by=rail.items[0].by.name if rail.items[0].by else "",
        note=rail.items[0].note,
        changes=list_changes(before, read_document(version)),
    )


def _build_back_address(request: ConsoleRequest, rail: Rail) -> str:
    """To the policy; a new one has no page yet."""
    slug = request.project.slug
    if rail.newest:
        return reverse("console:policy", args=[slug, rail.name])
    return reverse("console:policies", args=[slug])


def _build_check_address(request: ConsoleRequest, name: str) -> str:
    return reverse("console:policy-check", args=[request.project.slug, name])


def _list_records(request: ConsoleRequest, at: datetime) -> dict[str, str]:
    """Of each rule that asked somebody lately, how people answered."""
    counts = count_rules(project_id=request.project.pk, days=DAYS, at=at)
    return {
        count.rule: f"asked {count.asked}, approved {count.approved}"
        for count in counts.rules
    }
