"""Words for how severe reviews are, until when they wait, and when the clock stands still."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

_KINDS = {
    "pause": "A paused run",
    "request": "An agent’s request",
    "question": "An agent’s question",
    "confirmation": "A tool call",
    "exhausted": "A gate out of attempts",
    "loop_action": "An action of the loop",
    "policy_change": "A change of a policy",
    "plan": "An agent’s plan",
}
_ANSWER = Words("Answer within", "Later it counts as late.", "s")
_EXPIRES = Words("Ends after", "As reviews.expires_after_s where it is left out.", "s")

REVIEWS = {
    "reviews.require_reasons": Words(
        "Reasons from programs",
        "Whether a program, too, has to say why it decides what is critical or denies what "
        "is high. In the console people always have to.",
    ),
    "reviews.fresh_sign_in": Words(
        "Fresh sign-in", "What is approved in a browser only after signing in anew."
    ),
    "reviews.fresh_sign_in.severity": Words(
        "Severities that need it", "Reviews that are as severe as this."
    ),
    "reviews.fresh_sign_in.within_s": Words(
        "Fresh for", "So long a sign-in is fresh enough.", "s"
    ),
    "reviews.allowances": Words(
        "Allowances",
        "What a person who approves a pause may allow the run beforehand, at most.",
    ),
    "reviews.allowances.max_steps": Words(
        "For at most", "Steps; none means that every pause is asked about.", "steps"
    ),
    "reviews.allowances.max_minutes": Words(
        "And no longer than", "Minutes after which it ends in any case.", "minutes"
    ),
    "reviews.allowances.max_uncertainty": Words(
        "Uncertainty up to", "A higher one asks every time.", "score"
    ),
    "reviews.allowances.max_rework_ratio": Words(
        "Rework up to", "A larger share asks every time.", "share"
    ),
    "reviews.claim_lease_s": Words(
        "Claims hold for",
        "Without its claimer looking at it, a claim ends by itself after this time.",
        "s",
    ),
    "reviews.severity": Words(
        "Severity", "How severe a review is; an agent may ask for more, never for less."
    ),
    "reviews.severity.rules": Words(
        "By rule",
        "Severities by a rule of tool calls, or the beginning of its name and a star.",
    ),
    "reviews.severity.gates": Words(
        "By gate",
        "Severities by a gate of steps, calls or quality; a rule counts before it.",
    ),
    "reviews.severity.asked_at_most": Words(
        "Agents may ask for",
        "The highest severity that an agent can give its own question or request.",
    ),
    "reviews.severity.kinds": Words(
        "By kind", "Where neither a rule nor a gate says how severe it is."
    ),
    **{
        f"reviews.severity.kinds.{kind}": Words(label, "critical, high, medium or low.")
        for kind, label in _KINDS.items()
    },
    "reviews.deadlines": Words(
        "Deadlines", "When a review is late, and when it ends by itself."
    ),
    "reviews.deadlines.severity": Words("By severity", "What a kind says comes first."),
    **{
        f"reviews.deadlines.severity.{severity}": Words(
            severity.capitalize(), f"Of {severity} reviews."
        )
        for severity in ("critical", "high", "medium", "low")
    },
    **{
        f"reviews.deadlines.severity.{severity}.{name}": words
        for severity in ("critical", "high", "medium", "low")
        for name, words in (
            ("answer_within_s", _ANSWER),
            (
                "expires_after_s",
                Words(
                    _EXPIRES.label,
                    _EXPIRES.text,
                    _EXPIRES.unit,
                    default_from="reviews.expires_after_s",
                ),
            ),
        )
    },
    "reviews.deadlines.kinds": Words(
        "By kind", "answer_within_s and expires_after_s by the kind of review."
    ),
    "reviews.deadlines.kinds.*.answer_within_s": _ANSWER,
    "reviews.deadlines.kinds.*.expires_after_s": _EXPIRES,
    "reviews.working_hours": Words(
        "Working hours", "Outside of them the time of a review stands still."
    ),
    "reviews.working_hours.enabled": Words(
        "Working hours count", "Off: the clock of a review always runs."
    ),
    "reviews.working_hours.zone": Words(
        "Time zone", "Where people work, such as Europe/Berlin."
    ),
    "reviews.working_hours.days": Words("Days", "On which people work."),
    "reviews.working_hours.begin": Words("Begin", "Of a day’s work."),
    "reviews.working_hours.end": Words("End", "Of a day’s work; 24:00 is midnight."),
    "reviews.working_hours.holidays": Words("Holidays", "Days without work."),
}
