"""Commands of ours look at the settings, and do not load what they do not need."""

from __future__ import annotations

import pytest
from django.core.checks import Error, register
from django.core.checks.registry import registry
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from common.commands import SETTINGS, QuickCommand
from tests.config.own_commands import load_own_commands

pytestmark = pytest.mark.once("which checks run depends on no database")
# Looks at everything before it serves, in its own way; Django's own looks as Django does.
OTHERS = {"up", "migrate"}


def test_all_commands_but_two_are_quick() -> None:
    commands = load_own_commands()
    assert {
        name
        for name, command in commands.items()
        if not isinstance(command, QuickCommand)
    } == OTHERS


def test_a_fault_in_the_settings_ends_a_command_before_it_works(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "registered_checks", set())
    register(SETTINGS)(lambda **_: [Error("This cannot work.", id="config.E900")])
    with pytest.raises(SystemCheckError, match=r"This cannot work\."):
        call_command("tokens", "list", "nobody", skip_checks=False)


def test_a_fault_elsewhere_does_not(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "registered_checks", set())
    register()(lambda **_: [Error("A page has no address.", id="config.E901")])
    with pytest.raises(Exception, match="There is nobody named"):
        call_command("tokens", "list", "nobody", skip_checks=False)
