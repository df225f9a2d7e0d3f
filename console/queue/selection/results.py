"""What one decision on a selection did, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from console.format import format_count, format_seconds
from console.queue.selection.summary import VERBS
from reviews.bulk.results import Result
from reviews.models import Review
from reviews.rulings import held
from safetext import make_visible, make_visible_line

# Icon, tone and words of what became of one.
_STATES = {
    "ruled": ("check", "go", ""),
    "held": ("clock", "go", ""),
    "needs-approval": ("people", "pause", "approved by you, needs another approval"),
    "already-ruled": ("clock", "mute", "ruled already"),
    "changed": ("alert", "pause", "changed meanwhile: look at it again"),
    "not-found": ("alert", "mute", "not there any more"),
    "refused": ("x", "stop", "not taken"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    title: str
    url: str
    icon: str
    tone: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What became of each; those that were not taken first. `held` are the codes of those
    that the page sends in `left_ms`."""

    title: str
    items: list[ShownResult]
    is_whole: bool
    held: list[str]

    @property
    def left_ms(self) -> int:
        return round(held.WINDOW.total_seconds() * 1000)

    @property
    def left(self) -> str:
        return format_seconds(held.WINDOW.total_seconds())


def build_results(
    results: Sequence[Result], *, action: str, reviews: Mapping[str, Review], slug: str
) -> Results:
    _, done = VERBS[action]
    counts = Counter(result.status for result in results)
    taken = counts["ruled"] + counts["held"]
    said = [f"{taken} {done}"] if taken else []
    said += [
        f"{counts[status]} {text}"
        for status, (_, _, text) in _STATES.items()
        if text and counts[status]
    ]
    ordered = sorted(results, key=lambda each: each.status in ("ruled", "held"))
    return Results(
        title="; ".join(said),
        items=[_build_result(each, reviews, done=done, slug=slug) for each in ordered],
        is_whole=taken == len(results),
        held=[each.code for each in results if each.status == "held"],
    )


def _build_result(
    result: Result, reviews: Mapping[str, Review], *, done: str, slug: str
) -> ShownResult:
    icon, tone, text = _STATES[result.status]
    review = reviews.get(result.code)
    if result.refusal is not None and result.status in ("refused", "already-ruled"):
        text = make_visible(result.refusal.detail)
    return ShownResult(
        title=make_visible_line(review.title) if review else result.code,
        url=reverse("console:review", args=[slug, result.code]),
        icon=icon,
        tone=tone,
        text=text or done,
    )


def describe_unsent(results: Sequence[Result]) -> str:
    """Which rulings were refused at last; empty where none was. What was taken back or
    sent before is no news to who did that."""
    refused = [each for each in results if each.status in _STATES and each.refusal]
    if not refused:
        return ""
    reasons = dict.fromkeys(
        make_visible(each.refusal.detail) for each in refused if each.refusal
    )
    count = format_count(len(refused), "ruling")
    return f"{count} of {len(results)}: {' '.join(reasons)}"


def describe_taken_back(results: Sequence[Result]) -> str:
    counts = Counter(result.status for result in results)
    taken, sent = counts["taken-back"], len(results) - counts["taken-back"]
    said = f"Taken back. {format_count(taken, 'review')} {'is' if taken == 1 else 'are'} open."
    if not taken:
        return "Nothing was taken back: it was sent already."
    return f"{said} {format_count(sent, 'ruling')} had been sent." if sent else said
