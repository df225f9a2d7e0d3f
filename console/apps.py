"""Django's configuration of the console app."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        # Needs the models, which are loaded by now and not before.
        from console.live.cross_process import announce_to_other_processes

        announce_to_other_processes()
