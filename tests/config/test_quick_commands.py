"""Commands of ours look at the settings, and do not load what they do not need."""

from __future__ import annotations

import pytest
from django.core.checks import Error, register
from django.core.checks.registry import registry
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import SystemCheckError

from common.commands import SETTINGS, QuickCommand

pytestmark = pytest.mark.once("which checks run depends on no database")
APPS = {"accounts", "demo", "gateway", "ledger", "loop", "reviews", "webhooks"}


def test_every_command_but_the_server_is_quick() -> None:
    ours = {name: app for name, app in get_commands().items() if app in APPS}
    assert len(ours) >= 9
    for name, app in ours.items():
        assert isinstance(load_command_class(str(app), name), QuickCommand), name


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
