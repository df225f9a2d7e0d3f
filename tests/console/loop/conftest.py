"""The loop's pages are tested with the signals and the history of the loop."""

from __future__ import annotations

import pytest

from accounts.models import Project
from tests.loop.conftest import robo_signal
from tests.loop.history import History, live_through
from tests.support.builders import Person, Robot

__all__ = ["robo_signal"]


@pytest.fixture
def history(project: Project, robo: Robot, alice: Person) -> History:
    return live_through(project, robo, alice)
