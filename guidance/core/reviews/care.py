"""How much a ruling asks of a person, by how severe the review is."""

from __future__ import annotations

from guidance.core.reviews.four_eyes import APPROVING


def needs_reason(action: str, severity: str) -> bool:
    """To deny what is high, and to approve or deny what is critical. Nothing keeps a person
    from stopping a run, or from sending it back."""
    if action == "deny":
        return severity in {"high", "critical"}
    return severity == "critical" and action in APPROVING
