"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig

from common.append_only import register_append_only


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        # Needs the models, which are loaded by now and not before.
        from ledger.statistics.run_counts import register_run_counts
        from ledger.transitions import register_entry_types

        register_entry_types()
        register_run_counts()
        register_append_only(
            "ledger_entry",
            ("id",),
            ("run_id", "seq"),
            ("run_id", "prev_hash"),
            ("run_id", "step_number"),
            ("project_id", "position"),
        )
