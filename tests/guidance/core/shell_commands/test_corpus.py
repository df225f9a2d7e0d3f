"""Every row of the corpus, and every example that a rule gives of itself."""

from __future__ import annotations

from guidance.core.shell_commands import judge_command
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import Rule
from tests.guidance.core.shell_commands.corpus import CASES, TABLES
from tests.guidance.core.shell_commands.corpus.misses import MISSES
from tests.support.rows import each_row


def marks(command: str) -> list[tuple[str, bool]]:
    return [(found.rule, found.uninspectable) for found in judge_command(command)]


def rules(command: str) -> list[str]:
    return [found.rule for found in judge_command(command)]


@each_row("category", TABLES)
def test_every_command_of_the_table_is_judged_as_expected(category: str) -> None:
    wrong = [
        f"{case.command!r}: expected {case.expected or 'nothing'}, got {found}"
        for case in CASES
        if case.category == category
        if not case.met(found := marks(case.command))
    ]
    assert wrong == []


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    dangerous = sum(case.dangerous for case in CASES)
    assert dangerous >= 2_000
    assert len(CASES) - dangerous >= 1_700
    assert len({case.command for case in CASES}) >= 3_600


@each_row("rule", RULES.values(), ids=RULES)
def test_the_examples_of_a_rule_are_true(rule: Rule) -> None:
    missed = [command for command in rule.trips if rule.name not in rules(command)]
    tripped = [command for command in rule.passes if rule.name in rules(command)]
    assert (missed, tripped) == ([], [])


@each_row("rule", RULES.values(), ids=RULES)
def test_a_rule_says_what_why_and_what_to_do_instead(rule: Rule) -> None:
    assert rule.message
    assert rule.why.endswith(".")
    assert rule.safer.endswith(".")
    assert rule.passes
    assert rule.rollback or rule.name.startswith("opaque")


def test_rules_without_an_example_are_about_size_and_about_tools() -> None:
    """test_bombs has those of the first, test_destroying_tools those of the others."""
    silent = [rule.name for rule in RULES.values() if not rule.trips]
    assert silent == ["tool-delete", "tool-payment", "tool-bypass", "opaque-size"]


@each_row(
    "command",
    [command for _, command in MISSES],
    ids=[f"{number}: {why}" for number, (why, _) in enumerate(MISSES)],
)
def test_a_known_miss_is_still_missed(command: str) -> None:
    """Whoever closes one of these takes it off the list."""
    assert rules(command) == []
