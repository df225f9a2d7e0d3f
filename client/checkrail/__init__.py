"""The agents' side of Checkrail: ask before acting, obey, and wait for people.

Names are loaded when they are first used, so that `import checkrail` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checkrail.answers import (
        AdvisoryWarning,
        Budget,
        BudgetPart,
        CallAnswer,
        CallEvaluation,
        CallFinding,
        CallStanding,
        Checkpoint,
        Claim,
        Decision,
        Evaluation,
        Finding,
        GateCheckState,
        GateOutcome,
        LedgerEntry,
        ListedNote,
        Metrics,
        Note,
        OutcomeEvaluation,
        PolicyStamp,
        PolicyVersion,
        Preview,
        Receipt,
        Remaining,
        Review,
        ReviewDetail,
        ReviewRef,
        Ruling,
        RunState,
        Settled,
        Standing,
        Turn,
        TurnEvaluation,
        VerdictReading,
        Verification,
        Violation,
    )
    from checkrail.async_client import (
        AsyncCheckrail,
    )
    from checkrail.client import (
        Checkrail,
    )
    from checkrail.errors import (
        CheckrailError,
        ConfigurationError,
        ProtocolError,
        Ungoverned,
        Unreachable,
    )
    from checkrail.flows.usage import (
        Usage,
    )
    from checkrail.outcomes import (
        Aborted,
        Blocked,
        Denied,
        Expired,
        NotReplayable,
        StillWaiting,
        Stopped,
        Superseded,
        Withdrawn,
    )
    from checkrail.problems import (
        AlreadyRuled,
        Forbidden,
        FourEyes,
        GrantExpired,
        GrantMismatch,
        GrantSpent,
        Halted,
        IdempotencyInFlight,
        IdempotencyKeyReuse,
        Invalid,
        Malformed,
        NotFound,
        PreconditionRequired,
        Problem,
        RateLimited,
        ReviewExpired,
        ReviewOpen,
        RunClosed,
        RunPaused,
        StaleVersion,
        StepConflict,
        StepOutOfOrder,
        TooLarge,
        Unauthenticated,
        Unavailable,
        UnsupportedMedia,
    )
    from checkrail.runs.async_batched_run import (
        AsyncBatchedRun,
    )
    from checkrail.runs.async_calls import (
        AsyncCall,
        AsyncGateCheck,
    )
    from checkrail.runs.async_run import (
        AsyncRun,
    )
    from checkrail.runs.batched_run import (
        BatchedRun,
    )
    from checkrail.runs.calls import (
        Call,
        GateCheck,
    )
    from checkrail.runs.run import (
        Run,
    )
    from checkrail.streaming import (
        Event,
        astream_events,
        stream_events,
    )
    from checkrail.transport.connection import (
        Outage,
    )
    from checkrail.verify import (
        Broken,
        verify_lines,
    )
    from checkrail.version import __version__ as __version__

_MODULES: dict[str, tuple[str, ...]] = {
    "answers": (
        "AdvisoryWarning",
        "Budget",
        "BudgetPart",
        "CallAnswer",
        "CallEvaluation",
        "CallFinding",
        "CallStanding",
        "Checkpoint",
        "Claim",
        "Decision",
        "Evaluation",
        "Finding",
        "GateCheckState",
        "GateOutcome",
        "LedgerEntry",
        "ListedNote",
        "Metrics",
        "Note",
        "OutcomeEvaluation",
        "PolicyStamp",
        "PolicyVersion",
        "Preview",
        "Receipt",
        "Remaining",
        "Review",
        "ReviewDetail",
        "ReviewRef",
        "Ruling",
        "RunState",
        "Settled",
        "Standing",
        "Turn",
        "TurnEvaluation",
        "VerdictReading",
        "Verification",
        "Violation",
    ),
    "async_client": ("AsyncCheckrail",),
    "client": ("Checkrail",),
    "errors": (
        "CheckrailError",
        "ConfigurationError",
        "ProtocolError",
        "Ungoverned",
        "Unreachable",
    ),
    "outcomes": (
        "Aborted",
        "Blocked",
        "Denied",
        "Expired",
        "NotReplayable",
        "StillWaiting",
        "Stopped",
        "Superseded",
        "Withdrawn",
    ),
    "problems": (
        "AlreadyRuled",
        "Forbidden",
        "FourEyes",
        "GrantExpired",
        "GrantMismatch",
        "GrantSpent",
        "Halted",
        "IdempotencyInFlight",
        "IdempotencyKeyReuse",
        "Invalid",
        "Malformed",
        "NotFound",
        "PreconditionRequired",
        "Problem",
        "RateLimited",
        "ReviewExpired",
        "ReviewOpen",
        "RunClosed",
        "RunPaused",
        "StaleVersion",
        "StepConflict",
        "StepOutOfOrder",
        "TooLarge",
        "Unauthenticated",
        "Unavailable",
        "UnsupportedMedia",
    ),
    "runs.async_batched_run": ("AsyncBatchedRun",),
    "runs.async_calls": (
        "AsyncCall",
        "AsyncGateCheck",
    ),
    "runs.async_run": ("AsyncRun",),
    "runs.batched_run": ("BatchedRun",),
    "runs.calls": (
        "Call",
        "GateCheck",
    ),
    "runs.run": ("Run",),
    "streaming": (
        "Event",
        "astream_events",
        "stream_events",
    ),
    "transport.connection": ("Outage",),
    "flows.usage": ("Usage",),
    "verify": (
        "Broken",
        "verify_lines",
    ),
    "version": ("__version__",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Aborted",
    "AdvisoryWarning",
    "AlreadyRuled",
    "AsyncBatchedRun",
    "AsyncCall",
    "AsyncCheckrail",
    "AsyncGateCheck",
    "AsyncRun",
    "BatchedRun",
    "Blocked",
    "Broken",
    "Budget",
    "BudgetPart",
    "Call",
    "CallAnswer",
    "CallEvaluation",
    "CallFinding",
    "CallStanding",
    "Checkpoint",
    "Checkrail",
    "CheckrailError",
    "Claim",
    "ConfigurationError",
    "Decision",
    "Denied",
    "Evaluation",
    "Event",
    "Expired",
    "Finding",
    "Forbidden",
    "FourEyes",
    "GateCheck",
    "GateCheckState",
    "GateOutcome",
    "GrantExpired",
    "GrantMismatch",
    "GrantSpent",
    "Halted",
    "IdempotencyInFlight",
    "IdempotencyKeyReuse",
    "Invalid",
    "LedgerEntry",
    "ListedNote",
    "Malformed",
    "Metrics",
    "NotFound",
    "NotReplayable",
    "Note",
    "Outage",
    "OutcomeEvaluation",
    "PolicyStamp",
    "PolicyVersion",
    "PreconditionRequired",
    "Preview",
    "Problem",
    "ProtocolError",
    "RateLimited",
    "Receipt",
    "Remaining",
    "Review",
    "ReviewDetail",
    "ReviewExpired",
    "ReviewOpen",
    "ReviewRef",
    "Ruling",
    "Run",
    "RunClosed",
    "RunPaused",
    "RunState",
    "Settled",
    "StaleVersion",
    "Standing",
    "StepConflict",
    "StepOutOfOrder",
    "StillWaiting",
    "Stopped",
    "Superseded",
    "TooLarge",
    "Turn",
    "TurnEvaluation",
    "Unauthenticated",
    "Unavailable",
    "Ungoverned",
    "Unreachable",
    "UnsupportedMedia",
    "Usage",
    "VerdictReading",
    "Verification",
    "Violation",
    "Withdrawn",
    "astream_events",
    "stream_events",
    "verify_lines",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"checkrail.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
