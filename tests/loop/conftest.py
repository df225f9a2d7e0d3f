"""What only tests of the loop need."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from accounts.models import Project
from loop.inbox.triggers import accept_signal
from tests.builders import Robot

Sending = Callable[..., str]


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
