"""The commands of manage.py that are ours, whichever of our apps has them."""

from __future__ import annotations

from argparse import _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

OWN_APPS = {
    app.name for app in apps.get_app_configs() if Path(app.path).parent == settings.ROOT
}


def load_own_commands() -> dict[str, BaseCommand]:
    return {
        name: load_command_class(str(app), name)
        for name, app in get_commands().items()
        if app in OWN_APPS
    }


def list_acts(name: str, command: BaseCommand) -> Iterator[str]:
    """`tokens list`, `tokens add` …, or the name alone where a command does one thing."""
    parser = command.create_parser("manage.py", name)
    acts = [
        act
        for each in parser._actions
        if isinstance(each, _SubParsersAction)
        for act in each.choices
    ]
    yield from (f"{name} {act}" for act in acts)
    if not acts:
        yield name
