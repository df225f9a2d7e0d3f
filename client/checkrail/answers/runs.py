"""Answers about runs, their checkpoints and their ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrail.answers.common import PolicyStamp, Receipt, ReviewRef
from checkrail.answers.parsing import Answer


@dataclass(frozen=True, kw_only=True)
class BudgetPart(Answer):
    """Of tokens, calls and milliseconds whole numbers, of money decimal strings."""

    limit: Any
    used: Any
    remaining: Any


@dataclass(frozen=True, kw_only=True)
class Budget(Answer):
    tokens: BudgetPart
    tool_calls: BudgetPart
    time_ms: BudgetPart
    cost_usd: BudgetPart


@dataclass(frozen=True, kw_only=True)
class OutcomeEvaluation(Answer):
    """What one evaluator says of a finished run; None where nothing is known. `source` is
    seen, reported or both."""

    name: str
    passed: bool | None
    score: float | None
    message: str
    source: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Children(Answer):
    """Runs that a run started itself; `running` ones may be paused."""

    running: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Allowance(Answer):
    """What a person has allowed a run beforehand: `gate` does not pause it up to `up_to`."""

    id: str
    gate: str
    up_to: float
    steps: int
    steps_left: int
    ends_at: str
    given_at: str = ""
    by: str | None = None
    review: str = ""


@dataclass(frozen=True, kw_only=True)
class RunState(Answer):
    """A run as it stands; `evaluations` are there once it has finished. Lists do not tell
    its `allowances`."""

    id: str
    status: str
    task: str
    policy: PolicyStamp
    budget: Budget
    last_step: int
    head: Receipt
    project: str = ""
    agent: str = ""
    parent_run: str | None = None
    children: Children = Children(running=0, total=0)
    intent: str = ""
    model: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    status_reason: str | None = None
    steps: int = 0
    rework_steps: int = 0
    last_checkpoint_step: int = 0
    open_reviews: tuple[ReviewRef, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    finished_at: str | None = None
    url: str = ""
    evaluations: tuple[OutcomeEvaluation, ...] = ()
    accepted: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Violation(Answer):
    """A violation as it is stored."""

    run: str
    rule: str
    severity: str
    description: str
    auto_corrected: bool
    receipt: Receipt


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Answer):
    id: str
    run: str
    step: int
    state: Mapping[str, Any]
    label: str = ""
    created_at: str = ""
    receipt: Receipt | None = None


@dataclass(frozen=True, kw_only=True)
class LedgerEntry(Answer):
    run: str
    seq: int
    at: str
    type: str
    actor: str
    payload: Mapping[str, Any]
    hash: str
    v: int = 0
    payload_sha256: str = ""
    prev_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class PolicyVersion(Answer):
    """A policy as a project has stored it; `document` holds its settings."""

    name: str
    version: int
    document: Mapping[str, Any]
    hash: str = ""
    active: bool = False
    note: str = ""
    by: str | None = None
    at: str = ""
    yaml: str = ""


@dataclass(frozen=True, kw_only=True)
class Verification(Answer):
    ok: bool
    entries: int
    head: Receipt
    first_bad_seq: int | None = None
    reason: str | None = None
