"""The Django configuration of this app."""

from __future__ import annotations

from django.apps import AppConfig


class GuidanceConfig(AppConfig):
    name = "guidance"
