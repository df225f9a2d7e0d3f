"""What the gates say of a change while a person types it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from common.errors import Invalid
from console.queue.amending.box import parse_amendment
from console.queue.amending.changes import ShownChange, build_changes
from console.queue.amending.parts import PartsRefused, Typed
from console.queue.amending.texts import NothingChanged
from console.queue.call_parts import ChangedCall, build_changed_call
from guidance.core.shell_commands.rules.rule import FAMILIES
from reviews.models import Review
from reviews.rulings.amendments import Amendment, judge_amendment
from safetext import make_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendVerdict:
    """`call` is missing while what was typed is no call, `wrong` names the fields that
    cannot be read; `confirmation` is what the person sends back to have it granted, empty
    where nothing is to be confirmed."""

    icon: str
    tone: str
    summary: str
    details: tuple[str, ...] = ()
    call: ChangedCall | None = None
    changes: tuple[ShownChange, ...] = ()
    wrong: tuple[str, ...] = ()
    confirmation: str = ""


def build_amend_verdict(review: Review, typed: Typed) -> AmendVerdict:
    content = json.loads(review.content)
    try:
        amended = parse_amendment(content, typed)
        amendment = judge_amendment(review, content, amended)
    except NothingChanged:
        return AmendVerdict(
            icon="edit",
            tone="mute",
            summary="Nothing is changed yet. The gates judge it while you type.",
        )
    except Invalid as refusal:
        details = (str(error["message"]) for error in refusal.errors)
        return AmendVerdict(
            icon="alert",
            tone="mute",
            summary=make_visible(refusal.detail),
            details=tuple(map(make_visible, details)),
            wrong=tuple(refusal.problems) if isinstance(refusal, PartsRefused) else (),
        )
    icon, tone, summary = _describe_verdict(amendment)
    return AmendVerdict(
        icon=icon,
        tone=tone,
        summary=summary,
        call=build_changed_call(
            review,
            content,
            shown=amendment.verdict.shown,
            findings=[finding.to_json() for finding in amendment.verdict.findings],
        ),
        # What names a secret is not sent back.
        changes=()
        if amendment.blocked
        else build_changes(content, amendment.verdict.shown),
        confirmation=amendment.confirmation,
    )


def _describe_verdict(amendment: Amendment) -> tuple[str, str, str]:
    if amendment.blocked:
        return "stop", "stop", "The gates block this: it cannot be granted."
    if amendment.asking:
        # As in the queue: what a rule of the gateway speaks of is red.
        harms = any(finding.gate in FAMILIES for finding in amendment.asking)
        tone = "stop" if harms else "pause"
        return "alert", tone, "The gates still ask about this."
    if amendment.verdict.findings:
        return "alert", "slow", "The gates warn of this; it can be granted."
    return "check", "go", "The gates find nothing against this."
