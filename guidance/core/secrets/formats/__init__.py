"""Every public token format we know. A new one is one line in one of the tables."""

from __future__ import annotations

from guidance.core.secrets.formats import clouds, code, models, services, webhooks
from guidance.core.secrets.formats.rule import TokenRule

RULES: tuple[TokenRule, ...] = (
    *(clouds.RULES + code.RULES + models.RULES),
    *(services.RULES + webhooks.RULES),
)
KINDS = frozenset(rule.kind for rule in RULES)
