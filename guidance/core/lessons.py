"""Recommendations to people, made from what was counted often enough.

Pure: how often each thing happened goes in, recommendations come out. Each has a key
that stays the same for the same subject, says what it rests on, and changes nothing:
a person adopts it or not. A gate that guards against the worst is never softened by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from guidance.core.loop.learn_section import LearnSection, Threshold
from guidance.core.policy import Policy

GATE_SKIPPED = "gate-skipped"
RULE_APPROVED = "rule-approved"
PAUSE_APPROVED = "pause-approved"
LOOP_APPROVED = "loop-approved"
RUNS_FAILED = "runs-failed"
# A title has this much room in all.
_TITLE_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """It happened `times` of the `of` times that it could have. `name` is whose it is."""

    subject: str
    name: str
    times: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """`change` is what adopting it does: a part of a policy to set, or advice alone."""

    key: str
    title: str
    detail: str
    change: Mapping[str, Any]
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Teaching:
    """How one subject is put into words, and what could be changed about it."""

    threshold: Callable[[LearnSection], Threshold]
    title: str
    detail: str
    advice: str
    change: Callable[[Policy, str], dict[str, Any] | None] = lambda _policy, _name: None


def list_lessons(
    policy: Policy, policy_name: str, facts: Iterable[Counted]
) -> Iterator[Lesson]:
    """What these facts teach under this policy, in their order."""
    learn = policy.loop.learn
    if not learn.recommend:
        return
    for fact in facts:
        teaching = TEACHINGS[fact.subject]
        if not teaching.threshold(learn).is_met(fact.times, fact.of):
            continue
        words = {
            "name": fact.name,
            "times": fact.times,
            "of": fact.of,
            "days": learn.days,
        }
        wanted = teaching.change(policy, fact.name)
        change: dict[str, Any] = (
            {"advice": teaching.advice.format(**words)}
            if wanted is None
            else {"policy": policy_name, "set": wanted}
        )
        yield Lesson(
            key=f"{fact.subject}/{fact.name}",
            title=teaching.title.format(**words)[:_TITLE_LIMIT],
            detail=teaching.detail.format(**words),
            change=change,
            evidence={"subject": fact.subject, **words},
        )


def _soften_gate(policy: Policy, slug: str) -> dict[str, Any] | None:
    """Held by nobody any more, but still asked. Not for gates against the worst."""
    gate = policy.gates.get(slug)
    if gate is None or gate.mode != "blocking" or gate.severity == "critical":
        return None
    return {"gates": {slug: {"mode": "advisory"}}}


def _soften_pattern(policy: Policy, name: str) -> dict[str, Any] | None:
    """Of a rule that people wrote themselves; built-in ones are not changed."""
    patterns = [pattern.to_json() for pattern in policy.tools.patterns]
    asking = [
        pattern
        for pattern in patterns
        if pattern["name"] == name and pattern["decision"] == "require-confirmation"
    ]
    if not asking:
        return None
    for pattern in asking:
        pattern["decision"] = "warn"
    return {"tools": {"patterns": patterns}}


TEACHINGS: Mapping[str, Teaching] = MappingProxyType(
    {
        GATE_SKIPPED: Teaching(
            threshold=lambda learn: learn.gate_skipped,
            title="Gate {name} was skipped {times} of {of} times",
            detail=(
                "In the last {days} days the gate {name} came to a person {of} times,"
                " and {times} times that person skipped it. What people skip again and"
                " again protects nobody."
            ),
            advice=(
                "Look at the criteria of {name}: ask for what people really hold a run"
                " for, or make the gate advisory."
            ),
            change=_soften_gate,
        ),
        RULE_APPROVED: Teaching(
            threshold=lambda learn: learn.always_approved,
            title="Rule {name} was approved {times} of {of} times",
            detail=(
                "In the last {days} days people ruled {of} times on calls that the rule"
                " {name} asks about, and approved {times} of them as they were. Who is"
                " asked in vain soon stops reading."
            ),
            advice=(
                "Grant a standing permission for the calls of {name} that keep coming,"
                " or make the rule narrower."
            ),
            change=_soften_pattern,
        ),
        PAUSE_APPROVED: Teaching(
            threshold=lambda learn: learn.always_approved,
            title="Pauses by {name} were approved {times} of {of} times",
            detail=(
                "In the last {days} days people ruled on {of} runs that the gate {name}"
                " had paused, and let {times} of them go on."
            ),
            advice="The limit behind {name} may be too strict: look at it in the policy.",
        ),
        LOOP_APPROVED: Teaching(
            threshold=lambda learn: learn.always_approved,
            title="Loop {name} was approved {times} of {of} times",
            detail=(
                "In the last {days} days people ruled {of} times on whether the loop"
                " {name} may be started, and approved it {times} times."
            ),
            advice=(
                "Say in loop.kinds which parameters make {name} destructive, so that"
                " people are asked about those alone."
            ),
        ),
        RUNS_FAILED: Teaching(
            threshold=lambda learn: learn.runs_failed,
            title="Runs of {name} do not reach their goal, {times} of {of} times",
            detail=(
                "In the last {days} days {of} runs of {name} ended; {times} of them"
                " failed, were aborted or were abandoned."
            ),
            advice=(
                "Read the last runs of {name}: its tasks may be too large, its budget"
                " too small, or its gates never met."
            ),
        ),
    }
)
