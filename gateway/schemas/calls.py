"""What agents send and get about tool calls."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from common.fields import Id, Moment
from gateway.schemas.runs import CallDecision, NotesOut, RemainingOut
from ledger.schemas import (
    PolicyStamp,
    Receipt,
    ReviewReference,
)
from reviews.schemas.calls import (
    CommandBody,
    Digest,
    EditBody,
    MultiEditBody,
    PolicyName,
    ToolBody,
)
from reviews.schemas.fields import Amount, Body, Money


class CallFindingOut(BaseModel):
    """What one gate says of a call, and what would mend it."""

    gate: str
    decision: CallDecision
    message: str
    remediation: str | None
    details: dict[str, Any]


class MatchOut(BaseModel):
    """Where an edit was found in the text, and how exactly it matched."""

    edit: int
    line: int
    column: int
    layer: str


class PreviewOut(BaseModel):
    """What the edits would make of the text."""

    diff: str
    result_sha256: str
    matches: list[MatchOut]


class CallEvaluationOut(BaseModel):
    """May this be done? Every finding of every gate is in `findings`."""

    decision: CallDecision
    findings: list[CallFindingOut]
    policy: PolicyStamp


class MultiEditEvaluationOut(CallEvaluationOut):
    """The same for several edits, with what they would do."""

    preview: PreviewOut | None


class ToolCallOut(MultiEditEvaluationOut):
    """`grant` is good for one claim of exactly this `digest`."""

    id: Id
    run: Id
    digest: str
    review: ReviewReference | None
    grant: Id | None
    grant_expires_at: Moment | None
    replayed: bool
    output: Any
    budget_remaining: RemainingOut
    notes: NotesOut
    receipt: Receipt


class StandingCallOut(BaseModel):
    """A call as it stands now; `call` is what may run."""

    id: Id
    run: Id
    kind: str
    tool: str
    decision: CallDecision
    state: str
    digest: str
    call: dict[str, Any]
    review: Id | None
    grant: Id | None
    grant_expires_at: Moment | None
    ok: bool | None


class ClaimOut(BaseModel):
    """`call` is what may run now, once: as asked for, or as a person changed it."""

    id: Id
    run: Id
    grant: Id
    digest: str
    kind: str
    tool: str
    call: dict[str, Any]
    claimed_at: Moment
    receipt: Receipt


class SettledOut(BaseModel):
    """The result is stored, and its amounts are added to the run."""

    id: Id
    run: Id
    ok: bool
    budget_remaining: RemainingOut
    receipt: Receipt


class EvaluateCommandIn(CommandBody):
    """A shell command, and the policy to judge it by."""

    policy: PolicyName = "default"


class EvaluateToolIn(ToolBody):
    """A tool with its arguments, and the policy to judge it by."""

    policy: PolicyName = "default"


class EvaluateEditIn(EditBody):
    """New content for a file, and the policy to judge it by."""

    policy: PolicyName = "default"


class EvaluateMultiEditIn(MultiEditBody):
    """Several edits of one text, and the policy to judge them by."""

    policy: PolicyName = "default"


EvaluateIn = EvaluateCommandIn | EvaluateToolIn | EvaluateEditIn | EvaluateMultiEditIn


class ClaimIn(Body):
    """The digest of what is about to run."""

    digest: Digest


class ResultIn(Body):
    """`output` may be any JSON; secrets in it are not kept."""

    ok: bool
    output: Any = None
    duration_ms: Amount = 0
    tokens: Amount = 0
    cost_usd: Money = "0"
