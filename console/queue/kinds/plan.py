"""A plan that an agent submits: what exactly an approval would cover, and what not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.safestring import SafeString

from console.format import format_count
from console.queue.amending.planned_calls import (
    CallFields,
    change_plan,
    list_call_fields,
)
from console.queue.kinds.base import Button, ReviewKind, Subject, describe_work
from guidance.core.plans.words import describe_scope, get_text
from reviews.models import Review
from reviews.rulings.four_eyes import find_amendment
from safetext import build_warnings, make_visible, make_visible_line

_AMEND = Button(action="amend", label="Approve with changes", icon="check", key="e")
_BLOCKED, _ASKS = "blocked", "asks as before"
_ASKING = frozenset({"block", "require-confirmation"})
Fields = Mapping[tuple[int, int], CallFields]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCall:
    """`asks` is what a person would be asked about today, `scope` what the plan makes of
    it, or of all calls of its `shape`; `mark` says so in a word or two. `fields` are there
    where it may be changed."""

    text: str
    warnings: tuple[str, ...]
    shape: str
    scope: str
    asks: tuple[str, ...]
    mark: str
    tone: str
    fields: CallFields | None

    @property
    def is_covered(self) -> bool:
        return self.mark not in {_BLOCKED, _ASKS}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    number: int
    id: str
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
    may_amend: bool
    may_strike: bool

    @property
    def count(self) -> str:
        return format_count(len(self.steps), "step")


class PlanKind(ReviewKind[ShownPlan]):
    icon: ClassVar[str] = "todo"
    word: ClassVar[str] = "Plan submitted"
    nouns: ClassVar[tuple[str, str]] = ("plan", "plans")
    hint: ClassVar[str] = (
        "Approve covers exactly what is above, with your changes and without what you "
        "strike. Deny, and each call is asked about when it comes."
    )
    template: ClassVar[str] = "console/queue/kinds/_plan.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return format_count(len(content["steps"]), "step")

    def build_body(self, subject: Subject) -> ShownPlan:
        amended = _read_amended(subject.review)
        content = amended or subject.content
        may_amend = "amend" in subject.rulings
        fields = list_call_fields(content) if may_amend else {}
        steps = tuple(_build_step(step, fields) for step in content["steps"])
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
            may_amend=may_amend,
            may_strike=may_amend and len(steps) > 1,
        )

    def build_headline(self, subject: Subject, body: ShownPlan) -> SafeString:
        did = "submitted a plan" if subject.closed else "asks to follow this plan"
        return describe_work(subject, did)

    def list_buttons(self, subject: Subject, body: ShownPlan) -> list[Button]:
        found = super().list_buttons(subject, body)
        if not body.may_amend:
            return found
        return [*found[:1], _AMEND, *found[1:]]

    def parse_changes(self, review: Review, typed: QueryDict) -> dict[str, Any] | None:
        """Of the plan that the page shows: somebody may have changed it before."""
        content = _read_amended(review) or json.loads(review.content)
        fields = {name: str(typed[name]) for name in typed}
        return change_plan(content, struck=typed.getlist("strike"), typed=fields)


def _build_step(step: Mapping[str, Any], fields: Fields) -> PlanStep:
    number = step["number"]
    return PlanStep(
        number=number,
        id=f"{number}-{step['calls'][0]['key'][:12]}",
        purpose=make_visible_line(step["purpose"]),
        paths=tuple(map(make_visible_line, step["paths"])),
        calls=tuple(
            _build_call(call, step["paths"], fields.get((number, call["number"])))
            for call in step["calls"]
        ),
    )


def _build_call(
    call: Mapping[str, Any], paths: Sequence[str], fields: CallFields | None
) -> PlanCall:
    mark, tone = _choose_mark(call)
    text = get_text(call)
    return PlanCall(
        text=make_visible(text),
        warnings=build_warnings(text),
        shape=make_visible_line(call["covers"]),
        scope=make_visible_line(_describe(call, paths)),
        asks=tuple(
            make_visible_line(finding["message"])
            for finding in call["findings"]
            if finding["decision"] in _ASKING
        ),
        mark=mark,
        tone=tone,
        fields=fields,
    )


def _describe(call: Mapping[str, Any], paths: Sequence[str]) -> str:
    """Said behind the call that stands above it, or behind its shape."""
    if call["decision"] == "block":
        return "Blocked: the plan does not change that."
    if not call["covered"]:
        return f"Not covered: {call['why_not']}."
    return describe_scope(call, paths)


def _choose_mark(call: Mapping[str, Any]) -> tuple[str, str]:
    if call["decision"] == "block":
        return _BLOCKED, "stop"
    if not call["covered"]:
        return _ASKS, "pause"
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
