"""When a time is over that stands still while nobody works."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from guidance.core.reviews.section import WEEKDAYS, Deadline, ReviewRules, WorkingHours

_DAY = timedelta(days=1)
# However little is worked, no time lasts longer.
LONGEST = timedelta(days=3_660)


def add_working_time(
    moment: datetime, amount: timedelta, *, hours: WorkingHours, zone: tzinfo
) -> datetime:
    """The moment at which so much time was worked, in UTC.

    The amount is that of a clock on the wall of somebody who works: where a clock is put
    forward or back during the hours, the day is shorter or longer.
    """
    moment = moment.astimezone(UTC)
    if not hours.enabled:
        return moment + amount
    day = moment.astimezone(zone).date()
    holidays = frozenset(hours.holidays)
    end = moment + LONGEST
    while True:
        begins, ends = _find_window(day, hours, zone)
        begins = max(begins, moment)
        if begins >= end:
            return end
        if _is_worked(day, hours, holidays) and begins < ends:
            if amount <= ends - begins:
                return begins + amount
            amount -= ends - begins
        day += _DAY


def decide_deadlines(
    rules: ReviewRules, *, kind: str, severity: str, opened_at: datetime, zone: tzinfo
) -> tuple[datetime, datetime]:
    """When a review is late, and when it ends by itself: never late after its end."""
    of_kind = rules.deadlines.kinds.get(kind, Deadline())
    of_severity: Deadline = getattr(rules.deadlines.severity, severity)
    expires_s = (
        of_kind.expires_after_s or of_severity.expires_after_s or rules.expires_after_s
    )
    answer_s = of_kind.answer_within_s or of_severity.answer_within_s or expires_s
    answer_by, due_at = (
        add_working_time(
            opened_at, timedelta(seconds=each), hours=rules.working_hours, zone=zone
        )
        for each in (min(answer_s, expires_s), expires_s)
    )
    return answer_by, due_at


def _is_worked(day: date, hours: WorkingHours, holidays: frozenset[str]) -> bool:
    return WEEKDAYS[day.weekday()] in hours.days and day.isoformat() not in holidays


def _find_window(
    day: date, hours: WorkingHours, zone: tzinfo
) -> tuple[datetime, datetime]:
    return _find_clock(day, hours.begin, zone), _find_clock(day, hours.end, zone)


def _find_clock(day: date, clock: str, zone: tzinfo) -> datetime:
    if clock == "24:00":
        day, clock = day + _DAY, "00:00"
    local = datetime.combine(day, time.fromisoformat(clock), tzinfo=zone)
    return local.astimezone(UTC)
