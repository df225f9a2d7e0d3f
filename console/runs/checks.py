"""The gate checks of one run and what advisory ones left behind, for its page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.urls import reverse

from console.format import (
    ShownMoment,
    build_past_moment,
    build_past_moment_or_none,
    format_count,
)
from console.people import Person, build_person
from guidance.core.checks import CheckState
from ledger.models import Run
from reviews.models import AdvisoryWarning, GateCheck
from safetext import make_visible, make_visible_line

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
class CheckMark:
    """One event of a check's history, as small as an icon; `said` on demand."""

    icon: str
    tone: str
    word: str
    said: str

    @property
    def title(self) -> str:
        return f"{self.word}: {self.said}" if self.said else self.word


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    code: str
    icon: str
    tone: str
    word: str
    gates: str
    context: str
    marks: tuple[CheckMark, ...]
    said: str
    review_url: str
    when: ShownMoment


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWarning:
    code: str
    text: str
    when: ShownMoment
    acknowledged_by: Person | None
    acknowledged: ShownMoment | None


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

    @property
    def order(self) -> str:
        listed = len(self.checks)
        return (
            f"newest {listed} of {self.total}"
            if self.total > listed
            else "newest first"
        )

    @property
    def earlier_title(self) -> str:
        return format_count(len(self.earlier), "earlier check")


def build_run_checks(run: Run, *, slug: str, at: datetime) -> RunChecks:
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
        checks=tuple(
            _build_check(each, slug=slug, at=at) for each in found[:CHECKS_LIMIT]
        ),
        total=GateCheck.objects.filter(run=run).count() if more else len(found),
        warnings=tuple(_build_warning(each, at=at) for each in warnings),
    )


def _build_check(check: GateCheck, *, slug: str, at: datetime) -> RunCheck:
    state = CheckState.from_json(json.loads(check.state))
    icon, tone, word = _STATUSES[state.status]
    last = state.history[-1] if state.history else None
    review = check.review_id
    return RunCheck(
        code=str(check.code),
        icon=icon,
        tone=tone,
        word=word.format(attempt=state.attempt, most=state.max_attempts),
        gates=", ".join(
            make_visible_line(gate["name"]) for gate in json.loads(check.gates)
        ),
        context=f"{state.mode}, step {check.step}" if check.step else state.mode,
        marks=tuple(
            CheckMark(*_MARKS[event.what], make_visible_line(event.said))
            for event in state.history
        ),
        said=make_visible_line(last.said) if last else "",
        review_url=reverse("console:review", args=[slug, review]) if review else "",
        when=build_past_moment(check.updated_at, at),
    )


def _build_warning(warning: AdvisoryWarning, *, at: datetime) -> RunWarning:
    by = warning.acknowledged_by
    return RunWarning(
        code=str(warning.code),
        text=make_visible(warning.text),
        when=build_past_moment(warning.at, at),
        acknowledged_by=build_person(by) if by else None,
        acknowledged=build_past_moment_or_none(warning.acknowledged_at, at),
    )
