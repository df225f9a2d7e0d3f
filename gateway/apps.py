"""Django's configuration of the gateway app."""

from __future__ import annotations

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "gateway"

    def ready(self) -> None:
        # They need the models, which are loaded by now and not before.
        from gateway.backtest import register_judges
        from gateway.coding_agents.sessions import is_session_of
        from gateway.replay import register_replays
        from gateway.row_checks import register_rows
        from gateway.searched import register_searched_entries
        from gateway.statistics import register_counts
        from gateway.transitions import register_entry_types
        from reviews.rulings.from_sessions import register_sessions

        register_entry_types()
        register_replays()
        register_judges()
        register_rows()
        register_counts()
        register_searched_entries()
        register_sessions(is_session_of)
