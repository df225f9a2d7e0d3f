"""Django's handle on this app."""

from __future__ import annotations

from django.apps import AppConfig


class LoopConfig(AppConfig):
    name = "loop"

    def ready(self) -> None:
        # They need the models, which are loaded by now and not before.
        from loop.control.worker_hint import hint_on_commits
        from loop.cycle.approvals import follow_approval
        from reviews.closed_hooks import register_aftermath
        from reviews.models import Kind

        register_aftermath(Kind.LOOP_ACTION, follow_approval)
        hint_on_commits()
