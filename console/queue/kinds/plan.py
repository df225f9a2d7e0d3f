"""A plan that an agent submits: what exactly an approval would cover, and what not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.safestring import SafeString

from common.errors import Invalid
from console.format import format_count
from console.queue.kinds.base import Button, ReviewKind, Subject, describe_work
from guidance.core.plans.words import get_text
from reviews.agent_plans.approving import build_document
from reviews.models import Review
from reviews.rulings.four_eyes import find_amendment
from safetext import make_visible, make_visible_line

_AMEND = Button(
    action="amend", label="Approve without struck steps", icon="check", key="e"
)
_TONES = {"block": "stop", "require-confirmation": "pause"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCall:
    """`asks` is what a person would be asked about today, `scope` what the plan makes of
    it; `mark` says in a word or two what becomes of it."""

    text: str
    scope: str
    asks: tuple[str, ...]
    mark: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    number: int
    purpose: str
    paths: tuple[str, ...]
    calls: tuple[PlanCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """`struck` are steps that were proposed and not approved."""

    steps: tuple[PlanStep, ...]
    limits: tuple[str, ...]
    not_covered: tuple[str, ...]
    asking: str
    struck: tuple[str, ...]
    is_amended: bool
    may_strike: bool

    @property
    def count(self) -> str:
        return format_count(len(self.steps), "step")


class PlanKind(ReviewKind[ShownPlan]):
    icon: ClassVar[str] = "todo"
    word: ClassVar[str] = "Plan submitted"
    nouns: ClassVar[tuple[str, str]] = ("plan", "plans")
    hint: ClassVar[str] = (
        "Approve covers exactly the calls above, without struck steps, and nothing else; "
        "deny, and each of them is asked about when it comes."
    )
    template: ClassVar[str] = "console/queue/kinds/_plan.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return format_count(len(content["steps"]), "step")

    def build_body(self, subject: Subject) -> ShownPlan:
        amended = _read_amended(subject.review)
        content = amended or subject.content
        steps = tuple(_build_step(step) for step in content["steps"])
        calls = [call for step in content["steps"] for call in step["calls"]]
        asking = sum(
            call["count"] for call in calls if call["covered"] and call["rules"]
        )
        return ShownPlan(
            steps=steps,
            limits=tuple(content["limits_in_words"]),
            not_covered=tuple(content["not_covered"]),
            asking=f"answers {format_count(asking, 'question')}",
            struck=_list_struck(subject.content, content) if amended else (),
            is_amended=amended is not None,
            may_strike="amend" in subject.rulings and len(steps) > 1,
        )

    def build_headline(self, subject: Subject, body: ShownPlan) -> SafeString:
        did = "submitted a plan" if subject.closed else "asks for a plan at once"
        return describe_work(subject, did)

    def list_buttons(self, subject: Subject, body: ShownPlan) -> list[Button]:
        found = super().list_buttons(subject, body)
        if not body.may_strike:
            return found
        return [*found[:1], _AMEND, *found[1:]]

    def parse_strikes(
        self, content: Mapping[str, Any], struck: Sequence[str]
    ) -> dict[str, Any]:
        return remove_steps(content, struck)


def remove_steps(content: Mapping[str, Any], struck: Sequence[str]) -> dict[str, Any]:
    """The plan without these steps, and without calls that no plan covers."""
    document, numbers = build_document(content), set(struck)
    steps = []
    for step, judged in zip(document["steps"], content["steps"], strict=True):
        pairs = zip(step["calls"], judged["calls"], strict=True)
        calls = [call for call, each in pairs if each["covered"]]
        if calls and str(judged["number"]) not in numbers:
            steps.append({**step, "calls": calls})
    if not numbers:
        raise Invalid("Tick the steps that are struck, or approve all of them.")
    if not steps:
        raise Invalid("Nothing would be left of the plan: deny it instead.")
    return {"steps": steps}


def _build_step(step: Mapping[str, Any]) -> PlanStep:
    pairs = zip(step["calls"], step["scope"], strict=True)
    return PlanStep(
        number=step["number"],
        purpose=make_visible_line(step["purpose"]),
        paths=tuple(map(make_visible_line, step["paths"])),
        calls=tuple(_build_call(call, scope) for call, scope in pairs),
    )


def _build_call(call: Mapping[str, Any], scope: str) -> PlanCall:
    mark, tone = _choose_mark(call)
    return PlanCall(
        text=make_visible(get_text(call)),
        scope=make_visible(scope),
        asks=tuple(
            make_visible_line(f"{finding['gate']}: {finding['message']}")
            for finding in call["findings"]
            if finding["decision"] in _TONES
        ),
        mark=mark,
        tone=tone,
    )


def _choose_mark(call: Mapping[str, Any]) -> tuple[str, str]:
    if call["decision"] == "block":
        return "blocked", "stop"
    if not call["covered"]:
        return "asks as before", "pause"
    times = "once" if call["count"] == 1 else f"up to {call['count']:,} times"
    return times, "pause" if call["rules"] else "line"


def _read_amended(review: Review) -> dict[str, Any] | None:
    ruling = getattr(review, "ruling", None)
    changed = ruling if ruling is not None else find_amendment(review)
    if changed is None or changed.amended is None:
        return None
    content: dict[str, Any] = json.loads(changed.amended)
    return content


def _list_struck(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[str, ...]:
    kept = {_get_outline(step) for step in after["steps"]}
    return tuple(
        make_visible_line(step["purpose"])
        for step in before["steps"]
        if _get_outline(step) not in kept
    )


def _get_outline(step: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    calls: Iterable[Mapping[str, Any]] = step["calls"]
    return step["purpose"], tuple(call["key"] for call in calls if call["covered"])
