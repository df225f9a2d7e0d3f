"""The reviews section of a policy document, read strictly."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date

from guidance.core.document_reader import Section
from guidance.core.reviews.four_eyes import FourEyes
from guidance.core.reviews.section import (
    DAY_S,
    ON_EXPIRY,
    WEEKDAYS,
    AllowanceRules,
    Deadline,
    Deadlines,
    FreshSignIn,
    KindSeverities,
    ReviewRules,
    SeverityDeadlines,
    SeverityRules,
    WorkingHours,
)
from guidance.core.shell_commands.rules.rule import SEVERITIES

_YEAR_S = 366 * DAY_S
_NAME = re.compile(r"[^\s*]{1,199}\*?")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
KINDS = tuple(each.name for each in fields(KindSeverities))


def read_review_rules(section: Section) -> ReviewRules:
    default = ReviewRules()
    rules = ReviewRules(
        expires_after_s=section.read_integer(
            "expires_after_s", default.expires_after_s, low=1, high=_YEAR_S
        ),
        on_expiry=section.read_choice("on_expiry", default.on_expiry, among=ON_EXPIRY),
        rulings_from_agents=section.read_flag(
            "rulings_from_agents", default=default.rulings_from_agents
        ),
        refuse_own_agents=section.read_flag(
            "refuse_own_agents", default=default.refuse_own_agents
        ),
        claim_lease_s=section.read_integer(
            "claim_lease_s", default.claim_lease_s, low=30, high=DAY_S
        ),
        require_reasons=section.read_flag(
            "require_reasons", default=default.require_reasons
        ),
        fresh_sign_in=_read_fresh_sign_in(section.read_part("fresh_sign_in")),
        allowances=_read_allowances(section.read_part("allowances")),
        severity=_read_severity(section.read_part("severity")),
        deadlines=_read_deadlines(section.read_part("deadlines")),
        working_hours=_read_working_hours(section.read_part("working_hours")),
    )
    section.close()
    return rules


def read_four_eyes(section: Section) -> FourEyes:
    default = FourEyes()
    rules = FourEyes(
        approvals=section.read_integer("approvals", default.approvals, low=2, high=10),
        severity=section.read_texts(
            "severity",
            default.severity,
            problem=_find_severity_problem,
            among=SEVERITIES,
        ),
        rules=section.read_texts(
            "rules",
            default.rules,
            problem=_find_name_problem,
            pattern=_NAME.pattern,
        ),
        labels=_read_labels(section),
        policy=section.read_flag("policy", default=default.policy),
    )
    section.close()
    return rules


def _read_fresh_sign_in(section: Section) -> FreshSignIn:
    default = FreshSignIn()
    rules = FreshSignIn(
        severity=section.read_texts(
            "severity",
            default.severity,
            problem=_find_severity_problem,
            among=SEVERITIES,
        ),
        within_s=section.read_integer("within_s", default.within_s, low=30, high=DAY_S),
    )
    section.close()
    return rules


def _read_allowances(section: Section) -> AllowanceRules:
    default = AllowanceRules()
    rules = AllowanceRules(
        max_steps=section.read_integer(
            "max_steps", default.max_steps, low=0, high=10_000
        ),
        max_minutes=section.read_integer(
            "max_minutes", default.max_minutes, low=1, high=7 * 24 * 60
        ),
        max_uncertainty=section.read_number(
            "max_uncertainty", default.max_uncertainty, low=0, high=1
        ),
        max_rework_ratio=section.read_number(
            "max_rework_ratio", default.max_rework_ratio, low=0, high=1
        ),
    )
    section.close()
    return rules


def _read_labels(section: Section) -> dict[str, str]:
    labels = section.read_free("labels")
    for name, value in labels.items():
        if not isinstance(value, str):
            section.refuse(f"labels.{name}", "must be a text")
    return {name: str(value) for name, value in labels.items()}


def _find_severity_problem(word: str) -> str | None:
    known = word in SEVERITIES
    return None if known else f"must be one of {', '.join(SEVERITIES)}"


def _find_name_problem(name: str) -> str | None:
    fits = _NAME.fullmatch(name)
    return None if fits else "must be a name, or its beginning and *"


def _read_severity(section: Section) -> SeverityRules:
    rules = SeverityRules(
        rules=_read_named(section, "rules"),
        gates=_read_named(section, "gates"),
        kinds=_read_kinds(section.read_part("kinds")),
        asked_at_most=section.read_choice(
            "asked_at_most", SeverityRules().asked_at_most, among=SEVERITIES
        ),
    )
    section.close()
    return rules


def _read_named(section: Section, name: str) -> dict[str, str]:
    """Severities by a name, or the beginning of names and a star."""
    given = section.read_choices(name, among=SEVERITIES, pattern=_NAME.pattern)
    for key in given:
        if not _NAME.fullmatch(key):
            section.refuse(f"{name}.{key}", "must be a name, or its beginning and *")
    return given


def _read_kinds(section: Section) -> KindSeverities:
    default = KindSeverities()
    kinds = KindSeverities(
        **{
            name: section.read_choice(name, getattr(default, name), among=SEVERITIES)
            for name in KINDS
        }
    )
    section.close()
    return kinds


def _read_deadlines(section: Section) -> Deadlines:
    by_severity = section.read_part("severity")
    default = SeverityDeadlines()
    severity = SeverityDeadlines(
        **{
            name: _read_deadline(by_severity.read_part(name), getattr(default, name))
            for name in SEVERITIES
        }
    )
    by_severity.close()
    kinds = {}
    known = "|".join(KINDS)
    for name, part in section.read_named_parts("kinds", pattern=known).items():
        kinds[name] = _read_deadline(part, Deadline())
        if name not in KINDS:
            section.refuse(f"kinds.{name}", f"must be one of {', '.join(KINDS)}")
    section.close()
    return Deadlines(severity=severity, kinds=kinds)


def _read_deadline(section: Section, default: Deadline) -> Deadline:
    deadline = Deadline(
        answer_within_s=_read_seconds(
            section, "answer_within_s", default.answer_within_s
        ),
        expires_after_s=_read_seconds(
            section, "expires_after_s", default.expires_after_s
        ),
    )
    section.close()
    return deadline


def _read_seconds(section: Section, name: str, default: int | None) -> int | None:
    """None where it is left out, and nothing is built in."""
    if default is None and not section.has(name):
        return None
    return section.read_integer(name, default or DAY_S, low=1, high=_YEAR_S)


def _read_working_hours(section: Section) -> WorkingHours:
    default = WorkingHours()
    hours = WorkingHours(
        enabled=section.read_flag("enabled", default=default.enabled),
        zone=_read_form(section, "zone", default.zone, _ZONE, "Europe/Berlin"),
        days=section.read_texts(
            "days",
            default.days,
            problem=_find_day_problem,
            among=WEEKDAYS,
            fewest=1,
        ),
        begin=_read_form(section, "begin", default.begin, _CLOCK, "09:00"),
        end=_read_form(section, "end", default.end, _CLOCK, "17:00"),
        holidays=section.read_texts(
            "holidays",
            default.holidays,
            problem=_find_date_problem,
            pattern=_DATE.pattern,
        ),
    )
    if section.is_valid("begin", "end") and hours.begin >= hours.end:
        section.refuse(
            "begin", f"{hours.begin} is not before end, which is {hours.end}"
        )
    section.close()
    return hours


def _read_form(
    section: Section, name: str, default: str, form: re.Pattern[str], example: str
) -> str:
    text = section.read_text(name, most=64, default=default, pattern=form.pattern)
    if text and not form.fullmatch(text):
        section.refuse(name, f"must be such as {example}")
        return default
    return text or default


def _find_day_problem(day: str) -> str | None:
    return None if day in WEEKDAYS else f"must be one of {', '.join(WEEKDAYS)}"


def _find_date_problem(text: str) -> str | None:
    try:
        known = bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        known = False
    return None if known else "must be a date such as 2026-12-25"
