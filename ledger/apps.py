"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        # Needs the models, which are loaded by now and not before.
        from ledger.transitions import register_entry_types

        register_entry_types()
