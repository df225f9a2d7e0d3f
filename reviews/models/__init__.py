"""People's side: what waits for a person, what they chose, what they let run."""

from __future__ import annotations

from reviews.models.agent_note import AgentNote, DeliveredWith, NoteState
from reviews.models.approval import ReviewApproval
from reviews.models.backtest import Backtest, BacktestItem, BacktestUnchanged
from reviews.models.call import Grant, GrantState, ToolCall
from reviews.models.check import AdvisoryWarning, GateCheck
from reviews.models.exemption import Exemption
from reviews.models.held import HeldRuling
from reviews.models.job import UNENDED, HistoryJob, JobState
from reviews.models.model_request import ModelRequest
from reviews.models.permission import Permission, Scope
from reviews.models.review import (
    RULINGS,
    SERVER_KINDS,
    Comment,
    Kind,
    Mention,
    Reading,
    Reversibility,
    Review,
    ReviewState,
    Ruling,
    Severity,
    SnoozedFor,
)
from reviews.models.ruling_fact import APPROVING, RulingFact
from reviews.models.sealed_look import SealedLook
from reviews.models.shadow import PolicyShadow, PolicyShadowItem, ShadowEnd
from reviews.models.suggestions import SuggestionSearch
from reviews.models.violation import Violation, ViolationSource
from reviews.models.wait import AgentWait

__all__ = [
    "APPROVING",
    "RULINGS",
    "SERVER_KINDS",
    "UNENDED",
    "AdvisoryWarning",
    "AgentNote",
    "AgentWait",
    "Backtest",
    "BacktestItem",
    "BacktestUnchanged",
    "Comment",
    "DeliveredWith",
    "Exemption",
    "GateCheck",
    "Grant",
    "GrantState",
    "HeldRuling",
    "HistoryJob",
    "JobState",
    "Kind",
    "Mention",
    "ModelRequest",
    "NoteState",
    "Permission",
    "PolicyShadow",
    "PolicyShadowItem",
    "Reading",
    "Reversibility",
    "Review",
    "ReviewApproval",
    "ReviewState",
    "Ruling",
    "RulingFact",
    "Scope",
    "SealedLook",
    "Severity",
    "ShadowEnd",
    "SnoozedFor",
    "SuggestionSearch",
    "ToolCall",
    "Violation",
    "ViolationSource",
]
