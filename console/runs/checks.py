"""The gate checks of one run and what advisory ones left behind, for its page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.urls import reverse

from console.format import ago, iso
from console.people import Person, build_person
from guidance.core.checks import CheckState
from ledger.models import Run
from reviews.models import AdvisoryWarning, GateCheck
from safetext import visible, visible_line

CHECKS_LIMIT = 20
# The newest are in sight, the others behind a click: below them stands the timeline.
IN_SIGHT = 4
WARNINGS_LIMIT = 20

# Status: icon, tone, word.
_STATUSES = {
    "open": ("clock", "mute", "Attempt {attempt} of {most}"),
    "passed": ("check", "go", "Passed"),
    "warned": ("alert", "slow", "Not passed, warned"),
    "logged": ("dot", "mute", "Not passed, logged"),
    "exhausted": ("unpassed", "stop", "Out of attempts"),
    "skipped": ("skip", "pause", "Skipped, not passed"),
    "aborted": ("x", "stop", "Aborted"),
}
_MARKS = {
    "failed": ("x", "stop", "failed"),
    "passed": ("check", "go", "passed"),
    "reset": ("retry", "mute", "reset by a reviewer"),
    "skipped": ("skip", "pause", "skipped"),
    "aborted": ("x", "stop", "aborted"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One event of a check's history, as small as an icon; `said` on demand."""

    icon: str
    tone: str
    word: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    code: str
    icon: str
    tone: str
    word: str
    gates: tuple[str, ...]
    mode: str
    step: int
    marks: tuple[Mark, ...]
    said: str
    review_url: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWarning:
    code: str
    text: str
    at: str
    ago: str
    acknowledged_by: Person | None
    acknowledged_at: str
    acknowledged: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChecks:
    """`total` may be more than the newest ones that are listed."""

    slug: str
    run: str
    checks: tuple[RunCheck, ...]
    total: int
    warnings: tuple[RunWarning, ...]

    @property
    def in_sight(self) -> tuple[RunCheck, ...]:
        return self.checks[:IN_SIGHT]

    @property
    def earlier(self) -> tuple[RunCheck, ...]:
        return self.checks[IN_SIGHT:]

    @property
    def unseen(self) -> int:
        return sum(warning.acknowledged_by is None for warning in self.warnings)


def run_checks_of(run: Run, *, slug: str, at: datetime) -> RunChecks:
    """Two queries, a third where there are more checks than are listed."""
    found = list(GateCheck.objects.filter(run=run).order_by("-pk")[: CHECKS_LIMIT + 1])
    more = len(found) > CHECKS_LIMIT
    # What nobody has acknowledged is listed before what somebody has.
    warnings = (
        AdvisoryWarning.objects.filter(run=run)
        .select_related("acknowledged_by")
        .order_by(F("acknowledged_at").desc(nulls_first=True), "-pk")[:WARNINGS_LIMIT]
    )
    return RunChecks(
        slug=slug,
        run=str(run.code),
        checks=tuple(_check(each, slug=slug, at=at) for each in found[:CHECKS_LIMIT]),
        total=GateCheck.objects.filter(run=run).count() if more else len(found),
        warnings=tuple(_warning(each, at=at) for each in warnings),
    )


def _check(check: GateCheck, *, slug: str, at: datetime) -> RunCheck:
    state = CheckState.from_json(json.loads(check.state))
    icon, tone, word = _STATUSES[state.status]
    last = state.history[-1] if state.history else None
    review = check.review_id
    return RunCheck(
        code=str(check.code),
        icon=icon,
        tone=tone,
        word=word.format(attempt=state.attempt, most=state.max_attempts),
        gates=tuple(visible_line(gate["name"]) for gate in json.loads(check.gates)),
        mode=state.mode,
        step=check.step,
        marks=tuple(
            Mark(*_MARKS[event.what], visible_line(event.said))
            for event in state.history
        ),
        said=visible_line(last.said) if last else "",
        review_url=reverse("console:review", args=[slug, review]) if review else "",
        at=iso(check.updated_at),
        ago=ago((at - check.updated_at).total_seconds()),
    )


def _warning(warning: AdvisoryWarning, *, at: datetime) -> RunWarning:
    by, seen_at = warning.acknowledged_by, warning.acknowledged_at
    return RunWarning(
        code=str(warning.code),
        text=visible(warning.text),
        at=iso(warning.at),
        ago=ago((at - warning.at).total_seconds()),
        acknowledged_by=build_person(by) if by else None,
        acknowledged_at=iso(seen_at) if seen_at else "",
        acknowledged=ago((at - seen_at).total_seconds()) if seen_at else "",
    )
