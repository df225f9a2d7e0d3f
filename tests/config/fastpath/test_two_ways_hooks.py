"""Hooks: the fast path and Django alone must answer alike."""

from __future__ import annotations

import pytest

from tests.config.fastpath.stages import JSON, Stage, alike
from tests.gateway.coding_agents.hosts import FIXTURES, Host, load_recorded
from tests.support.people import rule

pytestmark = pytest.mark.once("compares two fronts of one writer")

ASKED = {"command": "rm -rf build"}


def test_hooks_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    names = sorted(path for path in FIXTURES.glob("*/*.json"))
    assert len(names) > 20
    for stage in stages:
        for path in names:
            dialect, name = path.parent.name, path.stem
            event = load_recorded(dialect, name)
            door = f"/hooks/{dialect}/{event['hook_event_name']}"
            query = {"wait_s": "300", "on_allow": "allow"}
            answer = stage.agent.post(door, json=event, params=query)
            stage.hear(f"{dialect} {name}", answer)
        for what, body in {
            "empty": b"",
            "junk": b"{",
            "no session": b"{}",
            "wrong type": b'{"session_id": 1}',
        }.items():
            door = "/hooks/claude-code/PreToolUse"
            stage.hear(what, stage.agent.post(door, content=body, headers=JSON))
        stage.hear("no such event", stage.agent.post("/hooks/codex/Nothing", json={}))

    alike(stages)


def test_a_held_hook_is_answered_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        host = Host(client=stage.agent)
        waiting = host.parked(
            lambda host=host: host.fire("PreToolUse-Bash", tool_input=ASKED)  # type: ignore[misc]
        )
        rule(stage.person, str(host.review.code), "approve", note="fine")
        said = waiting.result(timeout=60)["hookSpecificOutput"]
        assert said["permissionDecision"] == "allow"
