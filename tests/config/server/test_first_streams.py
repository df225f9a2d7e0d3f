"""Every stream of rows, read whole as the first request of a server that has just begun.

What a row needs besides its own query (its policy, say) is in no cache yet.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connection

from accounts.models import Project
from reviews.policies.backtest.perform import perform_next
from tests.architecture.test_knowledge import APPS
from tests.browser.sessions import session_cookie
from tests.gateway.calls.calls import command
from tests.runner.database import ROOT
from tests.support.builders import Person, start_run, step
from tests.support.live import Live
from tests.support.people import rule
from tests.support.processes import DATABASE, another_web_process, up


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What each of them has a row of."""

    slug: str
    run: str
    backtest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """`module` starts it; `ends` is how a whole one ends, `has` stands in its last row."""

    module: str
    path: Callable[[Stored], str]
    has: Callable[[Stored], str]


STREAMS = {
    "runs.csv": Stream(
        module="ledger.api",
        path=lambda _: "/api/v1/runs.csv?status=completed",
        has=lambda stored: f"/p/{stored.slug}/runs/{stored.run}/\r\n",
    ),
    "the console's runs.csv": Stream(
        module="console.runs.list.views",
        path=lambda stored: f"/p/{stored.slug}/runs.csv?q=status:completed",
        has=lambda stored: f"/p/{stored.slug}/runs/{stored.run}/\r\n",
    ),
    "ledger": Stream(
        module="ledger.api",
        path=lambda stored: f"/api/v1/runs/{stored.run}/ledger",
        has=lambda _: '"type":"run.finished"',
    ),
    "events": Stream(
        module="gateway.api.runs",
        path=lambda stored: f"/api/v1/runs/{stored.run}/events",
        has=lambda _: "event: end\n",
    ),
    "rulings.csv": Stream(
        module="reviews.past_rulings.api",
        path=lambda _: "/api/v1/rulings.csv",
        has=lambda stored: f",{stored.run},",
    ),
    "backtest as CSV": Stream(
        module="console.policies.backtest.exports",
        path=lambda stored: (
            f"/p/{stored.slug}/backtests/{stored.backtest}/items.csv?judged=any"
        ),
        has=lambda stored: f",{stored.run},",
    ),
    "backtest as JSON": Stream(
        module="console.policies.backtest.exports",
        path=lambda stored: (
            f"/p/{stored.slug}/backtests/{stored.backtest}/items.json?judged=any"
        ),
        has=lambda _: '"}]}\n',
    ),
}


@pytest.fixture
def stored(
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> Stored:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    rule(reviewer, command(agent, run, "rm -rf build")["review"]["id"], "deny")
    finished = agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert finished.status_code == 200, finished.text
    body = {"document": {"tools": {"rules": {"delete-folder": "warn"}}}}
    made = manager.post("/policies/default/backtest", json=body)
    assert made.status_code == 202, made.text
    while perform_next():
        pass  # others may have left some behind
    return Stored(slug=project.slug, run=run, backtest=made.json()["id"])


@contextmanager
def start_new_process(folder: Path) -> Iterator[Live]:
    """A server that has answered nothing yet, on what is stored."""
    if connection.vendor == "postgresql":
        with another_web_process() as process:
            yield process.live
        return
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(folder / DATABASE)])
    key: Mapping[str, str] = {"SECRET_KEY": settings.SECRET_KEY}
    with up(folder, variables=key) as process:
        yield process.live


@pytest.mark.parametrize("name", STREAMS)
def test_it_comes_whole_from_a_server_that_has_just_begun(
    name: str, stored: Stored, alice: Person, tmp_path: Path
) -> None:
    stream = STREAMS[name]
    cookies = {settings.SESSION_COOKIE_NAME: session_cookie(alice.user)}
    with start_new_process(tmp_path) as live:
        url = f"{live.url}{stream.path(stored)}"
        answer = httpx.get(url, cookies=cookies, timeout=60)
    assert answer.status_code == 200, answer.text
    assert stream.has(stored) in answer.text
    if name == "backtest as JSON":
        kinds = [item["kind"] for item in json.loads(answer.text)["items"]]
        assert sorted(kinds) == ["call", "step"]


def test_no_stream_is_missing_here() -> None:
    """Streams are made in two ways alone: of rows beside the event loop, and of events."""
    found = set()
    for app in APPS:
        for path in Path(ROOT, app).rglob("*.py"):
            names = {
                node.func.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if names & {"stream_rows", "StreamingHttpResponse", "FileResponse"}:
                found.add(module)
    assert found == {each.module for each in STREAMS.values()} | {
        "ledger.writer.db_threads"
    }
