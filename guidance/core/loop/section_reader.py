"""The loop section of a policy document, read strictly."""

from __future__ import annotations

from collections.abc import Mapping

from guidance.core.arguments import SCHEMA_PATTERN_LIMIT
from guidance.core.document_reader import Section
from guidance.core.loop.kind_reader import read_kind
from guidance.core.loop.kinds import LoopKind
from guidance.core.loop.learn_section import read_learn_section
from guidance.core.loop.rule_reader import read_rule
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import DECIDERS, EMITTING

_CAP_LIMIT = 10_000
_DAY_S = 86_400
_COST_LIMIT = 10**12


def read_loop_section(section: Section) -> LoopSection:
    default = LoopSection()
    signals = section.read_part("signals_from")
    kinds = _read_kinds(section)
    # Rules left out are the default ones; an empty list is none at all.
    given = section.has("rules")
    rules = tuple(read_rule(part, kinds) for part in section.read_parts("rules"))

    def seconds(name: str, *, low: int) -> int:
        return section.read_integer(name, getattr(default, name), low=low, high=_DAY_S)

    loop = LoopSection(
        heartbeat_s=seconds("heartbeat_s", low=60),
        min_gap_s=seconds("min_gap_s", low=0),
        decider=section.read_choice("decider", default.decider, among=DECIDERS),
        caps_per_hour=_read_caps(
            section.read_part("caps_per_hour"), default.caps_per_hour
        ),
        cost_per_day_micros=section.read_money(
            "cost_per_day_usd", default.cost_per_day_micros, high=_COST_LIMIT
        ),
        cascade_limit=section.read_integer(
            "cascade_limit", default.cascade_limit, low=0, high=100
        ),
        dedupe_s=seconds("dedupe_s", low=0),
        stale_after_s=seconds("stale_after_s", low=1),
        notes_at_once=section.read_integer(
            "notes_at_once", default.notes_at_once, low=1, high=100
        ),
        note_claim_s=seconds("note_claim_s", low=1),
        run_ends=signals.read_flag("run_ends", default=default.run_ends),
        rulings=signals.read_flag("rulings", default=default.rulings),
        kinds=kinds,
        rules=rules if given else default.rules,
        learn=read_learn_section(section.read_part("learn")),
    )
    signals.close()
    if (
        section.is_valid("heartbeat_s", "min_gap_s")
        and loop.min_gap_s > loop.heartbeat_s
    ):
        section.refuse(
            "min_gap_s",
            f"{loop.min_gap_s} is more than heartbeat_s, which is {loop.heartbeat_s}",
        )
    section.close()
    return loop


def _read_caps(section: Section, default: Mapping[str, int]) -> dict[str, int]:
    """0 is never; an action left out keeps its cap."""
    caps = {
        action: section.read_integer(action, default[action], low=0, high=_CAP_LIMIT)
        for action in EMITTING
    }
    section.close()
    return caps


def _read_kinds(section: Section) -> dict[str, LoopKind]:
    kinds: dict[str, LoopKind] = {}
    for place, part in enumerate(section.read_parts("kinds")):
        if sum(k.schema.pattern_size for k in kinds.values()) > SCHEMA_PATTERN_LIMIT:
            section.refuse("kinds", "the patterns of all parameters are too large")
            break
        kind = read_kind(part)
        if kind is None:
            continue
        if kind.name in kinds:
            section.refuse(f"kinds.{place}.name", "another kind has this name")
        kinds[kind.name] = kind
    return kinds
