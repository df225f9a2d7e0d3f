"""Which Checkrail this is: its release, its tables, and the forms of what it stores."""

from __future__ import annotations

from functools import cache

from django.apps import apps
from django.conf import settings
from django.db.migrations.loader import MigrationLoader

from guidance.core.outcomes.evaluate import OUTCOME_VERSION
from guidance.core.steps.judge_step import ENGINE_VERSION
from guidance.core.tools.judge_call import GATEWAY_VERSION
from guidance.core.turns.judge_turn import TURN_VERSION
from ledger.chain import FORMAT

# As in pyproject.toml, which a container does not have.
VERSION = "0.1.0"
PROFILE = "sqlite" if settings.EMBEDDED else "postgresql"
# What stands beside each stored decision, so that it can be made again.
FORMATS = {
    "entry": FORMAT,
    "step": ENGINE_VERSION,
    "call": GATEWAY_VERSION,
    "turn": TURN_VERSION,
    "outcome": OUTCOME_VERSION,
}


@cache
def get_schema() -> dict[str, str]:
    """The last migration of each of our apps, as this code knows them."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    ours = {app.label for app in apps.get_app_configs() if "." not in app.name}
    return {label: name for label, name in sorted(leaves) if label in ours}
