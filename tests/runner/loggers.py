"""Lets pytest look through all loggers while other threads make new ones.

Before each phase of a test pytest attaches its handlers to every logger there is, walking
over the dictionary of `logging` itself. A server in the same process imports modules in
threads of its own, and each makes a logger: the walk then ends with "dictionary changed
size during iteration", and the test with an error that is nobody's.
"""

from __future__ import annotations

import logging
from typing import Any


class Loggers(dict[str, Any]):
    """The loggers by name; who walks over them, walks over those of that moment."""

    def values(self) -> list[Any]:  # type: ignore[override]
        return list(super().values())


def pytest_configure() -> None:
    manager = logging.root.manager
    manager.loggerDict = Loggers(manager.loggerDict)
