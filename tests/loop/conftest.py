"""What only tests of the loop need."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

import pytest
from django.db import connection

from accounts.models import Project
from ledger.writer import ChangeRequest
from loop.control.clock import SendHeartbeat, WakeLoop
from loop.control.switch import SetPaused
from loop.inbox.incidents import ResolveIncident
from loop.inbox.ledger_events import ReadLedgerEvents
from loop.inbox.notes import AddNote, EndNote, ReturnNotes
from loop.inbox.outcomes import ReportOutcome
from loop.inbox.recommendations import AddRecommendation, EndRecommendation
from loop.inbox.triggers import AcceptSignal, accept_signal
from loop.learning.learn import AddLesson
from loop.runs import EndLoopRun, StartLoopRun
from tests.loop.places import Place, make_place
from tests.support.builders import Robot

Sending = Callable[..., str]
# All but DecideSignals, which reads what the rails compare as it comes to each trigger.
PURE: tuple[type[ChangeRequest[Any]], ...] = (
    *(AcceptSignal, AddLesson, AddNote, AddRecommendation, EndLoopRun, EndNote),
    *(EndRecommendation, ReadLedgerEvents, ReportOutcome, ResolveIncident, ReturnNotes),
    *(SendHeartbeat, SetPaused, StartLoopRun, WakeLoop),
)


@pytest.fixture(autouse=True)
def decide_is_pure(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a request needs is read by `load`: `decide` asks the database nothing."""
    for request in PURE:
        monkeypatch.setattr(request, "decide", _forbid_queries(request.decide))


def _forbid_queries(decide: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(_execute: object, sql: str, *_more: object) -> None:
        raise AssertionError(f"{decide.__qualname__} asks the database: {sql}")

    @wraps(decide)
    def forbidding(*args: Any) -> Any:
        with connection.execute_wrapper(refuse):
            return decide(*args)

    return forbidding


@pytest.fixture
def robo_signal(robo: Robot, project: Project) -> Sending:
    """A signal of the agent without HTTP; returns the id of the decision on it."""
    numbers = count(1)
    principal = robo.principal

    def send(type: str = "agent/loop.failed", **data: Any) -> str:
        said = data or {"about": next(numbers)}
        accepted = accept_signal(
            project_id=project.pk, principal=principal, type=type, data=said
        )
        told: str = json.loads(accepted.body)["decision_id"]
        return told

    return send


@pytest.fixture
def here(database: None) -> Place:
    return make_place()


@pytest.fixture
def there(database: None) -> Place:
    return make_place()
