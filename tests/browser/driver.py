"""Playwright's driver is a process of its own: a test in which it dies shows nothing."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, Error

BROWSER = pytest.StashKey[Browser]()


def run_with_living_driver(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run the test; once more, with a new browser, if the driver died under it.

    The driver ends by an error of its own now and then, and every browser test after it
    in the same process would fail. Whatever else fails is reported at once.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(_speaks_of_its_end(report) for report in reports) and not _is_alive(item):
        _drop_browser(item)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _speaks_of_its_end(report: pytest.TestReport) -> bool:
    return report.failed and "closed" in report.longreprtext


def _is_alive(item: pytest.Item) -> bool:
    """Ask the browser: a dead driver and a page closed by the test raise the same error."""
    try:
        item.config.stash[BROWSER].new_context().close()
    except (KeyError, Error, OSError):  # KeyError: none has started yet.
        return False
    return True


def _drop_browser(item: pytest.Item) -> None:
    """End every fixture of the browser tests, as behind the last of them.

    What was asked of the dead driver is never answered: Python would warn of it while
    the next test runs, so it is dropped here.
    """
    folder = Path(__file__).parent
    package = next(node for node in item.listchain() if node.path == folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        item.session._setupstate.teardown_exact(package.parent)  # type: ignore[arg-type]
        for name in ("last_exc", "last_value", "last_traceback"):
            setattr(sys, name, None)
        gc.collect()
