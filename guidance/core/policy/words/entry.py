"""What one setting is called, what it says, and what its value is counted in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Words:
    label: str
    text: str
    unit: str = ""
    # The path of another setting, whose value counts where this one is left out.
    default_from: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a JSON Schema annotates; `x-unit` and `x-default-from` are ours."""
        own = {"x-unit": self.unit, "x-default-from": self.default_from}
        given = {name: text for name, text in own.items() if text}
        return {"title": self.label, "description": self.text, **given}
