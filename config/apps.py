"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # Each registers its system checks.
        from config import checks  # noqa: F401
        from config.database import version  # noqa: F401
        from config.openapi import checks as openapi_checks  # noqa: F401
