"""Errors of the loop. Those marked internal are caught by their callers."""

from __future__ import annotations

from common.errors import DomainError
from reviews.errors import RunClosed


class LoopMoved(RunClosed):
    """Internal: the loop's run was closed; the caller goes on with the next one."""


class SignalKnown(DomainError):
    """Internal: a signal with this key is stored; the caller answers with that one."""


class AlreadyDecided(DomainError):
    """Internal: another worker decided these triggers first."""


class NotDue(DomainError):
    """Internal: nothing to do, or another worker has done it."""


class LoopPaused(DomainError):
    slug, status, title = "run-paused", 409, "The loop is paused"
