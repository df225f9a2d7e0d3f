"""The policy: every limit and rule that gates compare with, read from a document."""

from __future__ import annotations

from guidance.core.policy.policy import (
    CheckRules,
    ContinueLimits,
    Policy,
    PolicyError,
    RunRules,
    load_policy,
)
from guidance.core.reviews.section import ReviewRules

__all__ = [
    "CheckRules",
    "ContinueLimits",
    "Policy",
    "PolicyError",
    "ReviewRules",
    "RunRules",
    "load_policy",
]
