"""Refusals of the loop. Those marked internal are answered by their callers."""

from __future__ import annotations

from common.errors import DomainError
from reviews.errors import RunClosed


class LoopMoved(RunClosed):
    """Internal: the loop's run has ended meanwhile; the next one is taken instead."""


class RunStarted(DomainError):
    """Internal: somebody else started the loop's run; it is taken instead."""


class SignalKnown(DomainError):
    """Internal: a signal with this key is stored; it is answered as the first time."""


class AlreadyDecided(DomainError):
    """Internal: another worker was faster. One decision for each trigger, for ever."""


class NotDue(DomainError):
    """Internal: somebody else has done what the clock came for."""


class LoopPaused(DomainError):
    slug, status, title = "run-paused", 409, "The loop is paused"
