"""The policy: every limit and rule that gates compare with, read from a document."""

from __future__ import annotations

from guidance.core.policy.policy import (
    CYCLE_LIMIT,
    ON_EXPIRY,
    TRACE_LIMIT,
    Budget,
    CheckRules,
    ContinueLimits,
    Policy,
    PolicyError,
    ReviewRules,
    RunRules,
    dump_policy,
    load_policy,
)

__all__ = [
    "CYCLE_LIMIT",
    "ON_EXPIRY",
    "TRACE_LIMIT",
    "Budget",
    "CheckRules",
    "ContinueLimits",
    "Policy",
    "PolicyError",
    "ReviewRules",
    "RunRules",
    "dump_policy",
    "load_policy",
]
