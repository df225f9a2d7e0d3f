"""Tests that serve the application a second time go the way of all requests there, too:
each function on that way is entered behind both servers."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from accounts.models import Role
from tests.config.fastpath.steps.test_at_once import build_head, open_line
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.coding_agents.hosts import load_recorded
from tests.mutants.changes import ROOT
from tests.mutants.planting import restore, watch
from tests.support.applications import build_application
from tests.support.builders import (
    make_person,
    make_project,
    make_robot,
    start_run,
    step,
)
from tests.support.live import Live, serve
from tests.support.people import rule

pytestmark = pytest.mark.once("judges requests, not what is stored")

STAGES = [
    f"config/fastpath/{each}.py"
    for each in ("answers", "application", "at_once", "guard", "in_flight", "key_rate")
] + [
    f"config/server/{each}.py"
    for each in ("answers", "http_protocol", "known_heads", "replies", "unread")
]


# What goes by the clock, and what only trouble and sockets enter: each has its own tests.
BESIDE = {
    *("__init__", "_note_server", "handle_websocket_upgrade", "_check_socket"),
    *("check", "_is_overdue", "_is_stalled", "_is_upgraded", "_get_session_limit"),
    *("expire", "evict", "abort", "timeout_keep_alive_handler", "_owes_answer"),
    *("_read_path", "_discard", "_get_allowance"),
}

Function = tuple[str, str]


def list_functions() -> dict[tuple[str, int], Function]:
    return {
        (path, node.lineno): (path, node.name)
        for path in STAGES
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


@contextmanager
def note_entries() -> Iterator[set[Function]]:
    """What is entered meanwhile, by file and function."""
    names = list_functions()
    entered: set[Function] = set()
    with ExitStack() as stack:
        for path in STAGES:
            planted = watch(path, lambda *where: entered.add(names[where]))
            stack.callback(restore, planted)
        yield entered


def walk(server: Live) -> set[Function]:
    """What the requests of an agent and its reviewer enter, one of each kind."""
    project = make_project()
    robot = make_robot(project=project)
    bob = make_person("bob", role=Role.REVIEWER, project=project)
    with (
        note_entries() as entered,
        client_for(server, robot) as agent,
        client_for(server, bob) as reviewer,
    ):
        run = start_run(agent)
        path = f"/runs/{run}"
        with open_line(server) as line:
            # The second has a known head, the others are answered by a task in the end.
            for number, status in ((1, 201), (2, 201), (2, 201), (9, 409)):
                raw = json.dumps(step(number)).encode()
                line.send(build_head(f"{path}/steps", robot.key, len(raw)) + raw)
                assert line.hear().status == status
        agent.post(f"{path}/steps/batch", json={"steps": [step(3)]})
        agent.post(f"{path}/tool-calls", json={"kind": "command", "command": "ls"})
        agent.post("/evaluate/command", json={"command": "ls"})
        agent.post(
            "/hooks/claude-code/PreToolUse",
            json=load_recorded("claude-code", "PreToolUse-Bash"),
        )
        assert agent.get("/healthz").status_code == 200
        assert agent.get(path).status_code == 200
        with agent.stream("GET", f"{path}/events") as stream:
            next(stream.iter_lines())
        asked = command(agent, run, "rm -rf src")
        rule(reviewer, asked["review"]["id"], "approve")
        assert agent.get(f"{path}/decision?wait=5").json()["ruling"]
        httpx.get(f"{server.url}/sign-in")
    return entered


def test_a_second_server_goes_the_way_of_the_first(live: Live) -> None:
    first = walk(live)
    with serve(build_application()) as server:
        second = walk(server)
    every = {each for each in list_functions().values() if each[1] not in BESIDE}
    assert every - first == set()
    assert every - second == set()
