"""Django's configuration of the console app."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        # Needs the models, which are loaded by now and not before.
        from console.live.cross_process import announce_to_other_processes
        from console.notices.address import build_public_address
        from notifications.addresses import register_queue_address

        announce_to_other_processes()
        register_queue_address(build_public_address)
