"""Judging a finished run, and the facts that this rests on."""

from __future__ import annotations

from guidance.core.outcomes.evaluate import (
    EVALUATORS,
    OUTCOME_VERSION,
    Ending,
    judge_outcome,
)
from guidance.core.outcomes.evaluation import Evaluation
from guidance.core.outcomes.facts import OutcomeFacts, Report, Seen

__all__ = [
    "EVALUATORS",
    "OUTCOME_VERSION",
    "Ending",
    "Evaluation",
    "OutcomeFacts",
    "Report",
    "Seen",
    "judge_outcome",
]
