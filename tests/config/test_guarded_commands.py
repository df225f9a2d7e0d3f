"""An agent beside the server runs no command of ours unasked that could loosen its guard."""

from __future__ import annotations

import pytest

from guidance.core.shell_commands.judge_command import judge_command
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import GUARD
from tests.config.own_commands import list_acts, load_own_commands

# What anybody may run, and why. All others are named in
# guidance/core/shell_commands/rules/families/guard_tampering.py.
HARMLESS = {
    "agents list": "reads",
    "backtest": "reads",
    "checkpoint_secrets": "reads; with --redact it is asked about",
    "gateway_report": "reads",
    "ledger_protect": "puts protection back",
    "ledger_verify": "reads",
    "migrate": "applies what the code brings, as with every project of Django",
    "policies diff": "reads",
    "replay": "reads",
    "statistics_rebuild": "counts anew what stands in the ledger",
    "statistics_verify": "reads",
    "simulate": "agents of the demo, with keys of their own",
    "up": "serves, as anybody who develops it does all day",
}


def is_guarded(text: str) -> bool:
    findings = judge_command(f"python manage.py {text}")
    return any(RULES[finding.rule].family == GUARD for finding in findings)


def test_every_command_is_asked_about_or_harmless() -> None:
    acts = [
        act
        for name, command in load_own_commands().items()
        for act in list_acts(name, command)
    ]
    assert "tokens add" in acts
    assert {act for act in acts if not is_guarded(f"{act} robo")} == set(HARMLESS)


@pytest.mark.parametrize(
    "text", ["checkpoint_secrets --redact", "checkpoint_secrets --run 0192 --redact"]
)
def test_what_changes_the_records_is_asked_about(text: str) -> None:
    assert is_guarded(text)
