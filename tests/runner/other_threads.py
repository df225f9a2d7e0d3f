"""Lets pytest work beside servers in the same process, whose threads import modules.

Before each phase of a test pytest attaches its handlers to every logger there is, walking
over the dictionary of `logging` itself. A module that is imported meanwhile makes a logger:
the walk then ends with "dictionary changed size during iteration", and the test with an error
that is nobody's.

Behind a test that runs pytest in its own process, pytest empties `sys.modules` and fills it
again. A server that imports something at that moment gets a second, half-empty `django`, and
whatever asks for a part of it later fails. So only what the inner tests brought is dropped.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from _pytest.pytester import SysModulesSnapshot


class Loggers(dict[str, Any]):
    """The loggers by name; who walks over them, walks over those of that moment."""

    def values(self) -> list[Any]:  # type: ignore[override]
        return list(super().values())


def drop_new_modules(snapshot: SysModulesSnapshot) -> None:
    """Those of which not even the package was there before: the inner tests' own."""
    before = vars(snapshot)["_SysModulesSnapshot__saved"]
    for name in list(sys.modules):
        if name not in before and name.partition(".")[0] not in before:
            del sys.modules[name]


def pytest_configure() -> None:
    manager = logging.root.manager
    manager.loggerDict = Loggers(manager.loggerDict)
    pytest.MonkeyPatch().setattr(SysModulesSnapshot, "restore", drop_new_modules)
