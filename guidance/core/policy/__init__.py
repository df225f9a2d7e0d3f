"""The policy: every limit and rule that gates compare with, read from a document."""

from __future__ import annotations

from guidance.core.policy.policy import (
    ON_EXPIRY,
    CheckRules,
    ContinueLimits,
    Policy,
    PolicyError,
    ReviewRules,
    RunRules,
    load_policy,
)

__all__ = [
    "ON_EXPIRY",
    "CheckRules",
    "ContinueLimits",
    "Policy",
    "PolicyError",
    "ReviewRules",
    "RunRules",
    "load_policy",
]
