"""Lets a test run pytest in its own process while other threads import modules.

Behind such a test pytest empties `sys.modules` and fills it again. A server in the same
process that imports something at that moment gets a second, half-empty `django`, and
whatever asks for a part of it later fails. So only what the inner tests brought is dropped.
"""

from __future__ import annotations

import sys

import pytest
from _pytest.pytester import SysModulesSnapshot


def drop_new_modules(snapshot: SysModulesSnapshot) -> None:
    """Those of which not even the package was there before: the inner tests' own."""
    before = vars(snapshot)["_SysModulesSnapshot__saved"]
    for name in list(sys.modules):
        if name not in before and name.partition(".")[0] not in before:
            del sys.modules[name]


def pytest_configure() -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(SysModulesSnapshot, "restore", drop_new_modules)
