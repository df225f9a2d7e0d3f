"""What a policy says about the loop; a policy that says nothing has these values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guidance.core.arguments import SCHEMA_PATTERN_LIMIT
from guidance.core.document_reader import Section
from guidance.core.loop.kind_reader import KIND_WORDS, read_kind
from guidance.core.loop.kinds import LoopKind
from guidance.core.loop.learn_section import LearnSection
from guidance.core.loop.rule_reader import RULE_WORDS, read_rule
from guidance.core.loop.rules import LoopRule, Test
from guidance.core.loop.vocabulary import DECIDERS, EMITTING
from guidance.core.settings import (
    Known,
    Words,
    choice,
    declare,
    flag,
    money,
    part,
    whole,
)

_CAP_LIMIT = 10_000
_DAY_S = 86_400
_COST_LIMIT = 10**12
# How often each action may be done within an hour, and what that is called.
CAPS = {
    "start_loop": (6, "Loops started"),
    "process_notes": (12, "Notes processed"),
    "apply_retro_recommendation": (4, "Recommendations drafted"),
    "emit_alert": (12, "Alerts sent"),
}
_ANY = Test(at_least=1)
DEFAULT_RULES: tuple[LoopRule, ...] = (
    LoopRule(
        name="agent-failed",
        triggers=("agent/loop.failed",),
        action="emit_alert",
        parameters={
            "condition": "agent-failed/{data.agent}",
            "status": "firing",
            "severity": "high",
            "title": "{data.agent} does not finish its work",
        },
        reason="A run of {data.agent} ended without reaching its goal.",
    ),
    LoopRule(
        name="notes-wait",
        figures={"note_queue_length": _ANY},
        action="process_notes",
        reason="{note_queue_length} notes wait to be worked through.",
    ),
    LoopRule(
        name="recommendations-wait",
        figures={"pending_recommendations": _ANY},
        action="apply_retro_recommendation",
        reason="{pending_recommendations} recommendations wait to become drafts.",
    ),
    LoopRule(
        name="agent-well-again",
        triggers=("agent/loop.complete",),
        action="emit_alert",
        parameters={
            "condition": "agent-failed/{data.agent}",
            "status": "resolved",
            "title": "{data.agent} finishes its work again",
        },
        reason="A run of {data.agent} was completed.",
    ),
)


def _read_kinds(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, LoopKind]:
    kinds: dict[str, LoopKind] = {}
    for place, each in enumerate(section.read_parts(key)):
        if sum(k.schema.pattern_size for k in kinds.values()) > SCHEMA_PATTERN_LIMIT:
            section.refuse(key, "the patterns of all parameters are too large")
            break
        kind = read_kind(each)
        if kind is None:
            continue
        if kind.name in kinds:
            section.refuse(f"{key}.{place}.name", "another kind has this name")
        kinds[kind.name] = kind
    return kinds


def _read_rules(
    section: Section, key: str, usual: tuple[LoopRule, ...], known: Known
) -> tuple[LoopRule, ...]:
    """Rules left out are the default ones; an empty list is none at all."""
    given = section.has(key)
    rules = tuple(read_rule(each, known["kinds"]) for each in section.read_parts(key))
    return rules if given else usual


def _read_caps(
    section: Section, key: str, usual: Mapping[str, int], _: Known
) -> dict[str, int]:
    """0 is never; an action left out keeps its cap."""
    caps = section.read_part(key)
    found = {
        action: caps.read_integer(action, usual[action], low=0, high=_CAP_LIMIT)
        for action in EMITTING
    }
    caps.close()
    return found


def _declare_seconds(default: int, label: str, text: str, **more: Any) -> Any:
    return whole(default, label, text, high=_DAY_S, unit="s", **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    run_ends: bool = flag(True, "Ends of runs", "Whether they wake the loop.")
    rulings: bool = flag(True, "Rulings", "Whether they wake the loop.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSection:
    """`heartbeat_s` is how often the clock looks, unless somebody did so less than
    `min_gap_s` ago. `dedupe_s` is how long the same trigger on the same state counts as
    the same. `cost_per_day_micros` None is unlimited."""

    signals_from: Signals = part(
        Signals, "Signals", "What wakes the loop beside its clock."
    )
    kinds: Mapping[str, LoopKind] = declare(
        dict,
        "Loops",
        "Loops that may be started.",
        read=_read_kinds,
        inside=KIND_WORDS,
    )
    rules: tuple[LoopRule, ...] = declare(
        DEFAULT_RULES,
        "Rules",
        "The first that fits decides; else nothing is done.",
        read=_read_rules,
        inside=RULE_WORDS,
    )
    heartbeat_s: int = _declare_seconds(
        900, "Heartbeat", "How often the clock wakes it.", low=60
    )
    min_gap_s: int = _declare_seconds(
        600,
        "Rest",
        "The clock skips a look where the loop was woken less than this ago; at most "
        "heartbeat_s.",
        low=0,
        at_most="heartbeat_s",
    )
    decider: str = choice(
        "rules",
        "Decider",
        "Rules, a model, or both: shadow notes what a model would do.",
        among=DECIDERS,
    )
    caps_per_hour: Mapping[str, int] = declare(
        lambda: {action: often for action, (often, _) in CAPS.items()},
        "Caps",
        "How often it may act within an hour.",
        read=_read_caps,
        inside={
            action: Words(label, "0 is never.", "times")
            for action, (_, label) in CAPS.items()
        },
    )
    cost_per_day_micros: int | None = money(
        1_000_000,
        "Cost of a model",
        "Within a day (UTC); null is no limit.",
        high=_COST_LIMIT,
        key="cost_per_day_usd",
    )
    cascade_limit: int = whole(
        3,
        "Cascade",
        "So many decisions may follow from one event.",
        low=0,
        high=100,
        unit="times",
    )
    dedupe_s: int = _declare_seconds(
        3_600,
        "Same again",
        "The same loop is not started for the same trigger and state within so long.",
        low=0,
    )
    stale_after_s: int = _declare_seconds(
        120, "Stale after", "A decision on an older look is thrown away.", low=1
    )
    notes_at_once: int = whole(
        20, "Notes at once", "So many are taken together.", low=1, high=100
    )
    note_claim_s: int = _declare_seconds(
        3_600, "A note is held", "Then somebody else may take it.", low=1
    )
    learn: LearnSection = part(
        LearnSection, "Learning", "When counted facts become recommendations."
    )
