"""What a policy says about a model that looks at calls before a person is asked."""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.arguments import is_allowlisted
from guidance.core.settings import (
    flag,
    limit,
    money,
    share,
    texts,
    whole,
    words_among,
)
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import GUARD

SETTLES = ("allow", "deny")
# A policy can make these stricter and never lower them.
ALWAYS_ASKED = frozenset(rule.name for rule in RULES.values() if rule.family == GUARD)


def _find_rule_problem(pattern: str) -> str | None:
    """Why a model could not answer this rule; None if it could."""
    named = [rule for rule in RULES if is_allowlisted(rule, [pattern])]
    if not named:
        return "no built-in rule has this name"
    if all(rule in ALWAYS_ASKED for rule in named):
        return "what touches the guard is always asked"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """`rules` are those that ask and that it may answer, by name or its beginning and a
    star; without any it is never asked. `may` is what it may settle. Of what it looks at
    `blind_share` goes to people, who are not told what it said."""

    enabled: bool = flag(False, "In use", "Off: every such call goes to a person.")
    rules: tuple[str, ...] = texts(
        (),
        "Rules left to it",
        "Rules that ask and that it may answer, by name, or its beginning and a star: "
        "git-*. Never what is critical, asked every time, of your own making, or takes "
        "two people.",
        problem=_find_rule_problem,
    )
    may: tuple[str, ...] = words_among(
        SETTLES,
        "What it may settle",
        "What else it says is told to the person who decides.",
        among=SETTLES,
        fewest=1,
    )
    blind_share: float = share(
        0.1,
        "Checked by people",
        "So much of what it looks at goes to a person all the same, who is not told "
        "what it said.",
    )
    # A client waits 30 s for an answer, and a place among the questions takes time, too.
    timeout_s: int = whole(
        8,
        "It answers within",
        "After that a person is asked.",
        low=1,
        high=12,
        unit="s",
    )
    max_asked_per_day: int | None = limit(
        1_000,
        "Questions a day",
        "Of the whole project, from midnight UTC; null is no limit.",
        high=1_000_000,
        unit="questions",
    )
    max_cost_micros_per_day: int | None = money(
        None,
        "Cost a day",
        "Of the whole project, from midnight UTC; null is no limit. Where no prices are "
        "set up for the model, it is not asked.",
        high=10**15,
        key="max_cost_usd_per_day",
    )
