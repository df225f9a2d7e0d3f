"""Standing permissions as the console lists them: those that stand, those that ended.

Values are made ready here, as for every page; the templates only place them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.charts import draw_gauge
from console.format import (
    ShownMoment,
    build_past_moment,
    format_iso,
    format_seconds,
    render_time,
)
from console.people import Person, build_person
from console.permissions.preview import Coverage, describe_coverage
from console.runs.rows import format_short_code
from guidance.core.shell_commands.rules import RULES
from reviews.models import Permission, Scope
from reviews.permissions.standing import filter_standing, get_permission_state
from safetext import make_visible_line

STANDING_LIMIT = 200
ENDED_LIMIT = 100

_SCOPES = {Scope.EXACT: "this exact call", Scope.SHAPE: "calls of this shape"}
_ENDS = {
    "used up": ("Used up", "check"),
    "expired": ("Expired", "clock"),
    "revoked": ("Revoked", "x"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionEnd:
    """How it ended; `by` only where somebody took it back."""

    word: str
    icon: str
    when: ShownMoment
    by: Person | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRow:
    code: str
    tool: str
    scope: str
    covered: Coverage
    rules: tuple[tuple[str, str], ...]
    granted_by: Person
    granted: SafeString
    ends: ShownMoment
    used: int
    uses: int
    last_used: ShownMoment | None
    end: PermissionEnd | None

    @property
    def bar(self) -> SafeString:
        return draw_gauge(share=self.used / self.uses, tick=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionList:
    """`more` says that there are older ones than those listed."""

    rows: tuple[PermissionRow, ...]
    more: bool

    @property
    def size(self) -> str:
        return f"{len(self.rows)}+" if self.more else str(len(self.rows))


def list_standing_permissions(
    *, project_id: int, slug: str, at: datetime
) -> PermissionList:
    rows = _list_permissions(project_id).filter(filter_standing(at=at))
    return _build_list(rows[: STANDING_LIMIT + 1], STANDING_LIMIT, slug=slug, at=at)


def list_ended_permissions(
    *, project_id: int, slug: str, at: datetime
) -> PermissionList:
    rows = _list_permissions(project_id).exclude(filter_standing(at=at))
    return _build_list(rows[: ENDED_LIMIT + 1], ENDED_LIMIT, slug=slug, at=at)


def _list_permissions(project_id: int) -> QuerySet[Permission]:
    """The newest first."""
    return (
        Permission.objects.filter(project_id=project_id)
        .select_related("run", "review", "granted_by", "revoked_by")
        .defer("run__memory", "review__content")
        .order_by("-pk")
    )


def _build_list(
    found: Iterable[Permission], limit: int, *, slug: str, at: datetime
) -> PermissionList:
    rows = [_build_row(permission, slug=slug, at=at) for permission in found]
    return PermissionList(rows=tuple(rows[:limit]), more=len(rows) > limit)


def _build_row(permission: Permission, *, slug: str, at: datetime) -> PermissionRow:
    used_at = permission.last_used_at
    return PermissionRow(
        code=str(permission.code),
        tool=make_visible_line(permission.tool),
        scope=_SCOPES[Scope(permission.scope)],
        covered=describe_coverage(permission.covers),
        rules=tuple(map(_describe_rule, json.loads(permission.rules))),
        granted_by=build_person(permission.granted_by),
        granted=_describe_grant(permission, slug=slug, at=at),
        ends=ShownMoment(
            at=format_iso(permission.expires_at),
            words=format_seconds((permission.expires_at - at).total_seconds()),
        ),
        used=permission.used,
        uses=permission.used + permission.uses_left,
        last_used=build_past_moment(used_at, at) if used_at else None,
        end=_build_end(permission, at),
    )


def _describe_grant(permission: Permission, *, slug: str, at: datetime) -> SafeString:
    run = permission.run.code
    return format_html(
        "Granted by <b>{}</b> {} in "
        '<a class="c-accent" href="{}">this review</a> of '
        '<a class="c-accent mono" href="{}">{}</a>',
        build_person(permission.granted_by).name,
        render_time(build_past_moment(permission.granted_at, at)),
        reverse("console:review", args=[slug, permission.review.code]),
        reverse("console:run", args=[slug, run]),
        format_short_code(run),
    )


def _describe_rule(name: str) -> tuple[str, str]:
    """With what it catches; a policy's own patterns explain themselves elsewhere."""
    known = RULES.get(name)
    return make_visible_line(name), known.message if known else ""


def _build_end(permission: Permission, at: datetime) -> PermissionEnd | None:
    state = get_permission_state(permission, at=at)
    if state == "standing":
        return None
    word, icon = _ENDS[state]
    moments = {
        "revoked": permission.revoked_at,
        "used up": permission.last_used_at,
        "expired": permission.expires_at,
    }
    by = permission.revoked_by
    return PermissionEnd(
        word=word,
        icon=icon,
        when=build_past_moment(moments[state] or permission.granted_at, at),
        by=build_person(by) if by else None,
    )
