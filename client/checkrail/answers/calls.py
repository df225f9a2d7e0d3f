"""Answers about tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from checkrail.answers.common import PolicyStamp, Receipt, Remaining, ReviewRef
from checkrail.answers.notes import Note
from checkrail.answers.parsing import Answer

CallDecision = Literal["block", "require-confirmation", "warn", "allow"]


@dataclass(frozen=True, kw_only=True)
class CallFinding(Answer):
    """What one gate says about a call, and what to do instead."""

    gate: str
    decision: str
    message: str
    remediation: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Preview(Answer):
    """What several edits would make of a file."""

    diff: str
    result_sha256: str
    matches: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallEvaluation(Answer):
    """May this be done? Nothing is granted."""

    decision: CallDecision
    findings: tuple[CallFinding, ...]
    policy: PolicyStamp
    preview: Preview | None = None


@dataclass(frozen=True, kw_only=True)
class CallAnswer(CallEvaluation):
    """`grant` is good for one claim of exactly this `digest`."""

    id: str
    digest: str
    receipt: Receipt
    run: str = ""
    review: ReviewRef | None = None
    grant: str | None = None
    grant_expires_at: str | None = None
    replayed: bool = False
    output: Any = None
    budget_remaining: Remaining | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallStanding(Answer):
    """Where a call is on its way, and what may run."""

    id: str
    kind: str
    tool: str
    decision: CallDecision
    state: str
    digest: str
    call: Mapping[str, Any]
    run: str = ""
    review: str | None = None
    grant: str | None = None
    grant_expires_at: str | None = None
    ok: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Claim(Answer):
    """The grant is spent: `call` may run now, once."""

    id: str
    grant: str
    digest: str
    kind: str
    tool: str
    call: Mapping[str, Any]
    receipt: Receipt
    run: str = ""
    claimed_at: str = ""


@dataclass(frozen=True, kw_only=True)
class Settled(Answer):
    id: str
    ok: bool
    receipt: Receipt
    run: str = ""
    budget_remaining: Remaining | None = None
