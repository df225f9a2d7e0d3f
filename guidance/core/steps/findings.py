"""What one gate says about one step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`message` is a sentence for people; `value` was compared with `limit`."""

    gate: str
    decision: str
    message: str
    value: float | None
    limit: float | None

    def to_json(self) -> dict[str, object]:
        return {
            "gate": self.gate,
            "decision": self.decision,
            "message": self.message,
            "value": self.value,
            "limit": self.limit,
        }


def describe_both(said: float | None, seen: float) -> str:
    """What the agent said of itself, where something worse was seen; else nothing."""
    if said is None or said == seen:
        return ""
    return f": the agent says {said:.2f}, we see {seen:.2f}"
