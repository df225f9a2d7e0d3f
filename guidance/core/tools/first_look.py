"""What a policy says about a model that looks at calls before a person is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from guidance.core.document_reader import Section
from guidance.core.money import format_usd

SETTLES = ("allow", "deny")
_DAILY_LIMIT = 1_000_000
_COST_LIMIT = 10**15
# A client waits 30 s for an answer, and a place among the questions takes time, too.
_MOST_S = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """`rules` are those that ask and that it may answer, by name or its beginning and a
    star; without any it is never asked. `may` is what it may settle. Of what it looks at
    `blind_share` goes to people, who are not told what it said."""

    enabled: bool = False
    rules: tuple[str, ...] = ()
    may: tuple[str, ...] = SETTLES
    blind_share: float = 0.1
    timeout_s: int = 8
    max_asked_per_day: int | None = 1_000
    max_cost_micros_per_day: int | None = None

    def to_json(self) -> dict[str, object]:
        cost = self.max_cost_micros_per_day
        return {
            "enabled": self.enabled,
            "rules": list(self.rules),
            "may": list(self.may),
            "blind_share": self.blind_share,
            "timeout_s": self.timeout_s,
            "max_asked_per_day": self.max_asked_per_day,
            "max_cost_usd_per_day": None if cost is None else format_usd(cost),
        }


def read_first_look(
    section: Section, *, find_rule_problem: Callable[[str], str | None]
) -> FirstLook:
    default = FirstLook()
    look = FirstLook(
        enabled=section.read_flag("enabled", default=default.enabled),
        rules=section.read_texts("rules", default.rules, problem=find_rule_problem),
        may=section.read_texts(
            "may",
            default.may,
            problem=_find_answer_problem,
            among=SETTLES,
            fewest=1,
        ),
        blind_share=section.read_number(
            "blind_share", default.blind_share, low=0, high=1
        ),
        timeout_s=section.read_integer(
            "timeout_s", default.timeout_s, low=1, high=_MOST_S
        ),
        max_asked_per_day=section.read_limit(
            "max_asked_per_day", default.max_asked_per_day, high=_DAILY_LIMIT
        ),
        max_cost_micros_per_day=section.read_money(
            "max_cost_usd_per_day", default.max_cost_micros_per_day, high=_COST_LIMIT
        ),
    )
    section.close()
    return look


def _find_answer_problem(answer: str) -> str | None:
    return None if answer in SETTLES else f"must be one of {', '.join(SETTLES)}"
