"""What happened: runs and their chains, what proves them, and the figures counted from them."""

from __future__ import annotations

from ledger.models.halts import Halt
from ledger.models.proof import LedgerExport, ProjectVerification
from ledger.models.runs import (
    FINAL,
    OBSERVED,
    Checkpoint,
    Entry,
    IdempotencyRecord,
    ProjectHead,
    Run,
    RunEnd,
    RunOutcome,
    RunStatus,
    RunWords,
    SharedUse,
    WordsIndexed,
)
from ledger.models.statistics import (
    Interval,
    PeriodCount,
    PeriodTotals,
    StatisticsCursor,
)

__all__ = [
    "FINAL",
    "OBSERVED",
    "Checkpoint",
    "Entry",
    "Halt",
    "IdempotencyRecord",
    "Interval",
    "LedgerExport",
    "PeriodCount",
    "PeriodTotals",
    "ProjectHead",
    "ProjectVerification",
    "Run",
    "RunEnd",
    "RunOutcome",
    "RunStatus",
    "RunWords",
    "SharedUse",
    "StatisticsCursor",
    "WordsIndexed",
]
