"""The app's configuration: what it registers with the apps below it."""

from __future__ import annotations

from operator import itemgetter

from django.apps import AppConfig


class LoopConfig(AppConfig):
    name = "loop"

    def ready(self) -> None:
        # These import models, which are loaded only now.
        from loop.control.worker_hint import send_hints_on_commits
        from loop.cycle.approvals import load_action_endings
        from loop.cycle.replay import register_replays
        from loop.transitions import register_entry_types
        from reviews.models import Kind
        from reviews.plan import register_closed_hook
        from webhooks.events import register_event

        register_closed_hook(Kind.LOOP_ACTION, load_action_endings)
        register_event("loop.emitted", "loop.event", itemgetter("event"))
        send_hints_on_commits()
        register_entry_types()
        register_replays()
