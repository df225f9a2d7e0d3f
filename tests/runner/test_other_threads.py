"""Threads of servers import modules while pytest is at work in the same process."""

from __future__ import annotations

import logging
import sys
from types import ModuleType

import pytest
from _pytest.pytester import SysModulesSnapshot


class Watched(dict[str, ModuleType]):
    """Notices who empties it."""

    was_emptied = False

    def clear(self) -> None:
        self.was_emptied = True
        super().clear()


def test_a_logger_made_during_a_walk_does_not_end_it() -> None:
    name = f"{__name__}.made_during_a_walk"
    for _ in logging.root.manager.loggerDict.values():
        logging.getLogger(name)
    assert name in logging.root.manager.loggerDict


def test_modules_are_never_all_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(sys.modules)
    monkeypatch.setattr(sys, "modules", watched)
    snapshot = SysModulesSnapshot()
    watched["brought_by_an_inner_test"] = ModuleType("brought_by_an_inner_test")
    watched["tests.imported_by_a_server"] = ModuleType("tests.imported_by_a_server")
    snapshot.restore()
    assert not watched.was_emptied
    assert "brought_by_an_inner_test" not in watched
    assert "tests.imported_by_a_server" in watched
