"""The Django configuration of this app."""

from __future__ import annotations

from django.apps import AppConfig

from common.append_only import register_append_only


class GuidanceConfig(AppConfig):
    name = "guidance"

    def ready(self) -> None:
        register_append_only(
            "guidance_policyversion", ("id",), ("project_id", "name", "version")
        )
        register_append_only("guidance_policyactivation", ("id",))
