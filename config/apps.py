"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import database_version  # noqa: F401 (registers itself)
        from config.openapi import checks  # noqa: F401 (registers itself)
