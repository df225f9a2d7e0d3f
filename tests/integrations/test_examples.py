"""The examples as a newcomer starts them: programs of their own, on the live server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from checkrail.hooks.settings_hooks import HookOptions, add_hooks

from tests.integrations.newcomer import EXAMPLES, Newcomer
from tests.support.people import rule


@contextmanager
def somebody_approves(reviewer: httpx.Client) -> Iterator[list[str]]:
    """Whatever waits; yields the kinds of what did."""
    kinds: list[str] = []
    enough = threading.Event()

    def work() -> None:
        while not enough.wait(0.05):
            for review in reviewer.get("/reviews?state=open").json()["items"]:
                rule(reviewer, review["id"], "approve")
                kinds.append(review["kind"])

    person = threading.Thread(target=work, name="reviewer")
    person.start()
    try:
        yield kinds
    finally:
        enough.set()
        person.join()


def test_ten_lines(newcomer: Newcomer, reviewer: httpx.Client) -> None:
    (newcomer.folder / "build").mkdir()
    with somebody_approves(reviewer) as kinds:
        assert newcomer.start("ten_lines.py") == ["build"]
    assert kinds == ["confirmation"]
    assert not (newcomer.folder / "build").exists()
    (run,) = reviewer.get("/runs").json()["items"]
    assert (run["status"], run["steps"]) == ("completed", 2)


def test_a_langgraph_agent(newcomer: Newcomer, reviewer: httpx.Client) -> None:
    with somebody_approves(reviewer) as kinds:
        assert newcomer.start("langgraph_agent.py") == [
            "running: ls",
            "running: rm -rf build",
            "publishing: 1.4.0",
            "Released.",
        ]
    assert kinds == ["confirmation", "request"]
    (run,) = reviewer.get("/runs").json()["items"]
    assert (run["status"], run["steps"]) == ("completed", 4)


def test_the_settings_are_what_the_installer_writes() -> None:
    kept = json.loads((EXAMPLES / "claude-code/settings.json").read_text())
    url = "http://127.0.0.1:8000"
    assert kept == add_hooks({}, HookOptions(host="claude-code", url=url, shared=True))
