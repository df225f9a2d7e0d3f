"""Every public token format we know. A new one is one line in one of the tables."""

from __future__ import annotations

from guidance.core.secrets.formats import clouds, code, services
from guidance.core.secrets.formats.rule import TokenRule

RULES: tuple[TokenRule, ...] = clouds.RULES + code.RULES + services.RULES
KINDS = frozenset(rule.kind for rule in RULES)
