"""What one gate says about one step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`message` is a sentence for people; `value` was compared with `limit`. `allowance` is
    the id of the one by which it paused nothing."""

    gate: str
    decision: str
    message: str
    value: float | None
    limit: float | None
    allowance: str | None = None

    def to_json(self) -> dict[str, object]:
        """No allowance is not written down: older findings read the same."""
        allowed = {} if self.allowance is None else {"allowance": self.allowance}
        return {
            "gate": self.gate,
            "decision": self.decision,
            "message": self.message,
            "value": self.value,
            "limit": self.limit,
            **allowed,
        }


def describe_both(said: float | None, seen: float) -> str:
    """What the agent said of itself, where something worse was seen; else nothing."""
    if said is None or said == seen:
        return ""
    return f": the agent says {said:.2f}, we see {seen:.2f}"
