"""The loop's rows. What it decided stands in the ledger; these are its projections."""

from __future__ import annotations

from loop.models.decision import Decision
from loop.models.incident import Incident
from loop.models.note import Note, NoteState
from loop.models.project_loop import ProjectLoop
from loop.models.recommendation import OPEN, Recommendation, RecommendationState
from loop.models.signal import Signal

__all__ = [
    "OPEN",
    "Decision",
    "Incident",
    "Note",
    "NoteState",
    "ProjectLoop",
    "Recommendation",
    "RecommendationState",
    "Signal",
]
