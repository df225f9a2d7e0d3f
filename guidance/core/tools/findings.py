"""What one gate says about one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinding:
    """`remediation` says what to do instead; `details` are for programs and pages."""

    gate: str
    decision: str
    message: str
    remediation: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "gate": self.gate,
            "decision": self.decision,
            "message": self.message,
            "remediation": self.remediation,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> CallFinding:
        return cls(**document)
