"""Values that are not secrets, as the console lists them, and the call one is marked in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.selectors import list_managers
from console.format import build_past_moment, render_time
from console.people import Person, build_person
from console.runs.rows import format_short_code
from console.runs.sentences.calls import format_call
from reviews.models import Exemption, ToolCall
from reviews.permissions.exemptions import (
    find_exemptions,
    get_judged_payload,
    list_blocking_secrets,
)
from safetext import make_visible_line

LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExemptionRow:
    """`ended` says who took it back, and when; empty while it stands."""

    code: str
    label: str
    reason: str
    made_by: Person
    made: SafeString
    ended: SafeString | str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExemptionList:
    """`more` says that there are older ones than those listed."""

    rows: tuple[ExemptionRow, ...]
    more: bool

    @property
    def size(self) -> str:
        return f"{len(self.rows)}+" if self.more else str(len(self.rows))


def list_exemption_rows(*, project_id: int, slug: str, at: datetime) -> ExemptionList:
    """The newest first, those that were taken back among them."""
    found = (
        Exemption.objects.filter(project_id=project_id)
        .select_related("run", "made_by", "revoked_by")
        .defer("run__memory")
        .order_by("-pk")[: LIMIT + 1]
    )
    rows = [_build_row(exemption, slug=slug, at=at) for exemption in found]
    return ExemptionList(rows=tuple(rows[:LIMIT]), more=len(rows) > LIMIT)


def _build_row(exemption: Exemption, *, slug: str, at: datetime) -> ExemptionRow:
    run = exemption.run.code
    made_by = build_person(exemption.made_by)
    made = format_html(
        'Marked by <b>{}</b> {} in <a class="c-accent mono" href="{}">{}</a>',
        made_by.name,
        render_time(build_past_moment(exemption.made_at, at)),
        reverse("console:run", args=[slug, run]),
        format_short_code(run),
    )
    ended: SafeString | str = ""
    if exemption.revoked_at and exemption.revoked_by:
        ended = format_html(
            "Taken back by <b>{}</b> {}",
            build_person(exemption.revoked_by).name,
            render_time(build_past_moment(exemption.revoked_at, at)),
        )
    return ExemptionRow(
        code=str(exemption.code),
        label=exemption.label,
        reason=make_visible_line(exemption.reason),
        made_by=made_by,
        made=made,
        ended=ended,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedCall:
    """A call that secrets block: `labels` by fingerprint, without those that are exempt."""

    tool: str
    words: str
    labels: Mapping[str, str]
    exempt: tuple[str, ...]
    run_url: str
    managers: str


def build_blocked_call(call: ToolCall, *, slug: str) -> BlockedCall | None:
    """None where nothing in it can be marked."""
    payload: dict[str, Any] = get_judged_payload(call)
    labels = list_blocking_secrets(payload)
    if not labels:
        return None
    known = find_exemptions(project_id=call.project_id, fingerprints=list(labels))
    people = list_managers(project_id=call.project_id)
    return BlockedCall(
        tool=make_visible_line(payload["tool"]),
        words=format_call(payload["shown"]),
        labels={mark: labels[mark] for mark in labels if mark not in known},
        exempt=tuple(labels[mark] for mark in labels if mark in known),
        run_url=f"{reverse('console:run', args=[slug, call.run.code])}#entry-{call.seq}",
        managers=", ".join(make_visible_line(one.display_name) for one in people),
    )
