"""People's side: what waits for a person, what they chose, what they let run."""

from __future__ import annotations

from reviews.models.backtest import Backtest, BacktestItem, BacktestUnchanged
from reviews.models.call import Grant, GrantState, ToolCall
from reviews.models.check import AdvisoryWarning, GateCheck
from reviews.models.exemption import Exemption
from reviews.models.job import UNENDED, HistoryJob, JobState
from reviews.models.model_request import ModelRequest
from reviews.models.permission import Permission, Scope
from reviews.models.review import (
    RULINGS,
    SERVER_KINDS,
    Comment,
    Kind,
    Reading,
    Review,
    ReviewState,
    Ruling,
)
from reviews.models.shadow import PolicyShadow, PolicyShadowItem, ShadowEnd
from reviews.models.suggestions import SuggestionSearch
from reviews.models.violation import Violation, ViolationSource
from reviews.models.wait import AgentWait

__all__ = [
    "RULINGS",
    "SERVER_KINDS",
    "UNENDED",
    "AdvisoryWarning",
    "AgentWait",
    "Backtest",
    "BacktestItem",
    "BacktestUnchanged",
    "Comment",
    "Exemption",
    "GateCheck",
    "Grant",
    "GrantState",
    "HistoryJob",
    "JobState",
    "Kind",
    "ModelRequest",
    "Permission",
    "PolicyShadow",
    "PolicyShadowItem",
    "Reading",
    "Review",
    "ReviewState",
    "Ruling",
    "Scope",
    "ShadowEnd",
    "SuggestionSearch",
    "ToolCall",
    "Violation",
    "ViolationSource",
]
