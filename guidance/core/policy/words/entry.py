"""What one setting is called, what it says, and what its value is counted in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Words:
    label: str
    text: str
    unit: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a JSON Schema annotates; `x-unit` is ours."""
        unit = {"x-unit": self.unit} if self.unit else {}
        return {"title": self.label, "description": self.text, **unit}
