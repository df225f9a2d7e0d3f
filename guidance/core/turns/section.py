"""What a policy says about turns: when to go on, how often, and by which phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from guidance.core.arguments import choose_pattern
from guidance.core.turns.default_phrases import (
    COMPLETION_PHRASES,
    INTENT_PHRASES,
    NUDGE,
    SUMMARY_PHRASES,
)
from guidance.core.turns.phrases import Phrases


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """A score of `threshold` goes on, one of `warn_from` is noted.

    `models` holds the full rules of the models that have their own, by the model's name
    or the beginning of names and a star.
    """

    threshold: int = 60
    warn_from: int = 40
    max_retries: int = 3
    intent_phrases: Phrases = field(default=Phrases(INTENT_PHRASES))
    completion_phrases: Phrases = field(default=Phrases(COMPLETION_PHRASES))
    summary_phrases: Phrases = field(default=Phrases(SUMMARY_PHRASES))
    nudge: str = NUDGE
    models: Mapping[str, TurnRules] = field(default_factory=dict)

    def get_for_model(self, name: str | None) -> TurnRules:
        """The rules for this model: its own, the longest beginning's, or the common."""
        own = None if name is None else choose_pattern(self.models, name)
        return replace(self, models={}) if own is None else self.models[own]

    def to_json(self) -> dict[str, object]:
        """The section of the policy document that gives these rules again."""
        return {
            **self._get_values(),
            "models": {
                name: {
                    key: value
                    for key, value in own._get_values().items()
                    if value != self._get_values()[key]
                }
                for name, own in self.models.items()
            },
        }

    def _get_values(self) -> dict[str, object]:
        values = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name != "models"
        }
        return {
            name: list(value.texts) if isinstance(value, Phrases) else value
            for name, value in values.items()
        }
