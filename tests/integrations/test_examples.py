"""The examples as a newcomer starts them: programs of their own, on the live server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from checkrail.hooks.settings_hooks import HookOptions, add_hooks

from accounts.models import Project
from tests.integrations.newcomer import EXAMPLES, Newcomer
from tests.support.builders import make_policy
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


def test_an_agent_that_passes_its_usage_on(
    newcomer: Newcomer, reviewer: httpx.Client, project: Project
) -> None:
    """Its model costs what the policy says; without a price no cost is known."""
    assert newcomer.start("usage_agent.py") == [
        "989540 tokens and 10.00 dollars are left"
    ]
    price = {"input_usd": "3.00", "output_usd": "15.00", "cached_input_usd": "0.30"}
    make_policy("default", project=project, prices={"models": {"scripted-*": price}})
    # 310 × 3 + 4,800 × 0.3 + 120 × 15 millionths of a dollar, twice.
    assert newcomer.start("usage_agent.py") == [
        "989540 tokens and 9.99166 dollars are left"
    ]


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
