"""The reviews of a policy: severities, deadlines, working hours, who may rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

from guidance.core.document_reader import Section
from guidance.core.settings import (
    Known,
    choice,
    collect_words,
    declare,
    flag,
    part,
    read_settings,
    share,
    texts,
    whole,
    words_among,
)
from guidance.core.shell_commands.rules.rule import SEVERITIES

ON_EXPIRY = ("abort", "stop")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_S = 86_400
_YEAR_S = 366 * DAY_S
_NAME = re.compile(r"[^\s*]{1,199}\*?")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def find_name_problem(name: str) -> str | None:
    """Why it is not the name of rules or gates, None if it is."""
    fits = _NAME.fullmatch(name)
    return None if fits else "must be a name, or its beginning and *"


def declare_names(default: tuple[str, ...], label: str, text: str) -> Any:
    """Names of rules or gates, or the beginnings of names and a star."""
    return texts(default, label, text, problem=find_name_problem, pattern=_NAME.pattern)


def _declare_severity(default: str, label: str) -> Any:
    return choice(default, label, "critical, high, medium or low.", among=SEVERITIES)


def _declare_severities(label: str, text: str) -> Any:
    """Severities by a name, or the beginning of names and a star."""

    def read(section: Section, key: str, _usual: object, _: Known) -> dict[str, str]:
        given = section.read_choices(key, among=SEVERITIES, pattern=_NAME.pattern)
        for name in given:
            why = find_name_problem(name)
            if why is not None:
                section.refuse(f"{key}.{name}", why)
        return given

    return declare(dict, label, text, read=read)


def _declare_seconds(label: str, text: str) -> Any:
    """None where it is left out, and nothing is built in."""

    def read(section: Section, key: str, usual: int | None, _: Known) -> int | None:
        if usual is None and not section.has(key):
            return None
        return section.read_integer(key, usual or DAY_S, low=1, high=_YEAR_S)

    return declare(None, label, text, read=read, unit="s")


def _declare_form(
    default: str, label: str, text: str, *, form: re.Pattern[str], example: str
) -> Any:
    """A text of this form."""

    def read(section: Section, key: str, usual: str, _: Known) -> str:
        given = section.read_text(key, most=64, default=usual, pattern=form.pattern)
        if given and not form.fullmatch(given):
            section.refuse(key, f"must be such as {example}")
            return usual
        return given or usual

    return declare(default, label, text, read=read)


def _find_date_problem(text: str) -> str | None:
    try:
        known = bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        known = False
    return None if known else "must be a date such as 2026-12-25"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSeverities:
    """Of what opens a review and says nothing itself about how severe it is."""

    pause: str = _declare_severity("medium", "A paused run")
    request: str = _declare_severity("medium", "An agent’s request")
    question: str = _declare_severity("low", "An agent’s question")
    confirmation: str = _declare_severity("medium", "A tool call")
    exhausted: str = _declare_severity("medium", "A gate out of attempts")
    loop_action: str = _declare_severity("high", "An action of the loop")
    policy_change: str = _declare_severity("high", "A change of a policy")
    plan: str = _declare_severity("medium", "An agent’s plan")


KINDS = tuple(each.name for each in fields(KindSeverities))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityRules:
    """By a rule's name or its beginning and a star, else by a gate's name, else as the rule
    or the gate says itself, else by the kind of the review."""

    rules: Mapping[str, str] = _declare_severities(
        "By rule",
        "Severities by a rule of tool calls, or the beginning of its name and a star.",
    )
    gates: Mapping[str, str] = _declare_severities(
        "By gate",
        "Severities by a gate of steps, calls or quality; a rule counts before it.",
    )
    kinds: KindSeverities = part(
        KindSeverities,
        "By kind",
        "Where neither a rule nor a gate says how severe it is.",
    )
    # The most that an agent may ask for by itself.
    asked_at_most: str = choice(
        "high",
        "Agents may ask for",
        "The highest severity that an agent can give its own question or request.",
        among=SEVERITIES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """Seconds from opening: when a review is late, and when it ends by itself. None: what
    is said elsewhere counts."""

    answer_within_s: int | None = _declare_seconds(
        "Answer within", "Later it counts as late."
    )
    expires_after_s: int | None = _declare_seconds(
        "Ends after", "As reviews.expires_after_s where it is left out."
    )


DEADLINE_WORDS = collect_words(Deadline)


def _declare_deadline(severity: str, answer_within_s: int) -> Any:
    expires = replace(
        DEADLINE_WORDS["expires_after_s"], default_from="reviews.expires_after_s"
    )
    return part(
        Deadline,
        severity.capitalize(),
        f"Of {severity} reviews.",
        default=Deadline(answer_within_s=answer_within_s),
        inside={"expires_after_s": expires},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityDeadlines:
    critical: Deadline = _declare_deadline("critical", 1_800)
    high: Deadline = _declare_deadline("high", 3_600)
    medium: Deadline = _declare_deadline("medium", 28_800)
    low: Deadline = _declare_deadline("low", DAY_S)


def _read_kinds(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, Deadline]:
    kinds = {}
    given = section.read_named_parts(key, pattern="|".join(KINDS))
    for name, each in given.items():
        kinds[name] = read_settings(each, Deadline)
        if name not in KINDS:
            section.refuse(f"{key}.{name}", f"must be one of {', '.join(KINDS)}")
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """What is said of a kind counts before what is said of its severity."""

    severity: SeverityDeadlines = part(
        SeverityDeadlines, "By severity", "What a kind says comes first."
    )
    kinds: Mapping[str, Deadline] = declare(
        dict,
        "By kind",
        "answer_within_s and expires_after_s by the kind of review.",
        read=_read_kinds,
        inside={f"*.{name}": words for name, words in DEADLINE_WORDS.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHours:
    """While nobody works, the time of a review stands still. Off: it always runs."""

    enabled: bool = flag(
        False, "Working hours count", "Off: the clock of a review always runs."
    )
    zone: str = _declare_form(
        "UTC",
        "Time zone",
        "Where people work, such as Europe/Berlin.",
        form=_ZONE,
        example="Europe/Berlin",
    )
    days: tuple[str, ...] = words_among(
        WEEKDAYS[:5], "Days", "On which people work.", among=WEEKDAYS, fewest=1
    )
    begin: str = _declare_form(
        "09:00", "Begin", "Of a day’s work.", form=_CLOCK, example="09:00"
    )
    end: str = _declare_form(
        "17:00",
        "End",
        "Of a day’s work; 24:00 is midnight.",
        form=_CLOCK,
        example="17:00",
    )
    holidays: tuple[str, ...] = texts(
        (),
        "Holidays",
        "Days without work.",
        problem=_find_date_problem,
        pattern=_DATE.pattern,
    )

    @staticmethod
    def check_settings(section: Section, given: Known) -> None:
        begin, end = given["begin"], given["end"]
        if section.is_valid("begin", "end") and begin >= end:
            section.refuse("begin", f"{begin} is not before end, which is {end}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshSignIn:
    """What is as severe as this is approved in a browser only by whoever has signed in
    there not longer ago than this."""

    severity: tuple[str, ...] = words_among(
        (),
        "Severities that need it",
        "Reviews that are as severe as this.",
        among=SEVERITIES,
    )
    within_s: int = whole(
        600,
        "Fresh for",
        "So long a sign-in is fresh enough.",
        low=30,
        high=DAY_S,
        unit="s",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceRules:
    """The most that a person who approves a pause may allow the run beforehand: for how
    many steps and minutes, and up to which values. No steps: nothing."""

    max_steps: int = whole(
        100,
        "For at most",
        "Steps; none means that every pause is asked about.",
        low=0,
        high=10_000,
        unit="steps",
    )
    max_minutes: int = whole(
        480,
        "And no longer than",
        "Minutes after which it ends in any case.",
        low=1,
        high=7 * 24 * 60,
        unit="minutes",
    )
    max_uncertainty: float = share(
        0.95, "Uncertainty up to", "A higher one asks every time.", unit="score"
    )
    max_rework_ratio: float = share(
        0.6, "Rework up to", "A larger share asks every time."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """When a review that nobody rules on ends, and how: never with an approval.

    `claim_lease_s` is for how long a claim holds without its claimer. `rulings_from_agents`
    lets a person's token rule from inside an agent's session, `refuse_own_agents` not on
    agents that the person owns, nor on the session's own one.
    """

    expires_after_s: int = whole(
        DAY_S,
        "Waits for a person",
        "Later rulings are refused.",
        low=1,
        high=_YEAR_S,
        unit="s",
    )
    on_expiry: str = choice(
        "abort",
        "When nobody rules",
        "How the run ends; an action of the loop is denied instead.",
        among=ON_EXPIRY,
    )
    rulings_from_agents: bool = flag(
        False,
        "Rulings from agents",
        "Whether a person's token may rule from inside an agent's session.",
    )
    refuse_own_agents: bool = flag(
        True,
        "Refuse own agents",
        "Whether it may not even then for an agent of that person, or of that session.",
    )
    claim_lease_s: int = whole(
        900,
        "Claims hold for",
        "Without its claimer looking at it, a claim ends by itself after this time.",
        low=30,
        high=DAY_S,
        unit="s",
    )
    # Of programs, too; people at a screen always have to say why where it is severe.
    require_reasons: bool = flag(
        False,
        "Reasons from programs",
        "Whether a program, too, has to say why it decides what is critical or denies what "
        "is high. In the console people always have to.",
    )
    fresh_sign_in: FreshSignIn = part(
        FreshSignIn,
        "Fresh sign-in",
        "What is approved in a browser only after signing in anew.",
    )
    allowances: AllowanceRules = part(
        AllowanceRules,
        "Allowances",
        "What a person who approves a pause may allow the run beforehand, at most.",
    )
    severity: SeverityRules = part(
        SeverityRules,
        "Severity",
        "How severe a review is; an agent may ask for more, never for less.",
    )
    deadlines: Deadlines = part(
        Deadlines, "Deadlines", "When a review is late, and when it ends by itself."
    )
    working_hours: WorkingHours = part(
        WorkingHours,
        "Working hours",
        "Outside of them the time of a review stands still.",
    )
