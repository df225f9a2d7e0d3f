"""Tool calls and the doors that judge without a run: both ways must answer alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.config.fastpath.stages import JSON, ODD_HEADERS, Stage, alike, odd_request
from tests.gateway.calls.calls import rule, settle
from tests.guidance.core.secrets.samples import body as drawn
from tests.support.builders import pause_at_once

pytestmark = pytest.mark.once("compares two fronts of one writer")

TOKEN = "gh" + "p_" + drawn(36)
SEVERAL = {
    "file_path": "a.py",
    "original": "a\nb\n",
    "edits": [{"old": "a", "new": "c"}],
}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "harmless": ("command", {"command": "ls -la é\u2028"}),
    "dangerous": ("command", {"command": "rm -rf build", "tool": "Shell"}),
    "two commands": ("command", {"command": "ls", "arguments": {"command": "pwd"}}),
    "with a secret": ("command", {"command": f"export TOKEN={TOKEN}"}),
    "a tool": ("tool", {"tool": "Read", "arguments": {"path": "a", "n": 1.5}}),
    "no arguments": ("tool", {"tool": "Read"}),
    "SQL": ("tool", {"tool": "db", "arguments": {"sql": "DROP TABLE users"}}),
    "broken arguments": ("tool", {"tool": "Write", "arguments_json": '{"a": "'}),
    "an edit": ("edit", {"file_path": "a.py", "content": "x\n" * 400}),
    "several edits": ("multi_edit", SEVERAL),
    "edits that fail": ("multi_edit", {**SEVERAL, "original": "a a"}),
    "a long one": ("edit", {"file_path": "a.py", "content": "x = 1\n" * 10_000}),
}
DOORS = ("command", "tool", "edit", "multi-edit")


def test_calls_are_judged_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        path = f"/runs/{stage.run}/tool-calls"
        for what, (kind, body) in CALLS.items():
            stage.hear(what, stage.agent.post(path, json={"kind": kind, **body}))
            door = f"/evaluate/{kind.replace('_', '-')}"
            for who in ("agent", "person"):
                client = getattr(stage, who)
                stage.hear(f"{what}, {who}, no run", client.post(door, json=body))

    alike(stages)


def test_the_state_of_the_run_is_told_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        agent, run, hear = stage.agent, stage.run, stage.hear
        path = f"/runs/{run}/tool-calls"
        harmless = {"kind": "command", "command": "ls"}
        key = {"Idempotency-Key": "k"}
        hear("with a key", agent.post(path, json=harmless, headers=key))
        hear("key again", agent.post(path, json=harmless, headers=key))
        other = {**harmless, "command": "pwd"}
        hear("key reused", agent.post(path, json=other, headers=key))
        dangerous = {"kind": "command", "command": "rm -rf build"}
        asked = hear("asked", agent.post(path, json=dangerous)).json()
        hear("beside it", agent.post(path, json=harmless))
        hear("waiting", agent.get(f"/runs/{run}/decision"))
        rule(stage.person, asked, "approve", remember={"scope": "exact"})
        settle(agent, run, asked)
        hear("ruled", agent.get(f"/runs/{run}/decision"))
        hear("permitted", agent.post(path, json=dangerous))
        pause_at_once(agent, run)
        hear("paused", agent.post(path, json=harmless))
        stage.person.post(f"/runs/{run}/abort", json={})
        hear("closed", agent.post(path, json=harmless))

    alike(stages)


def wrong_bodies() -> dict[str, bytes]:
    documents: dict[str, Any] = {
        "null": None,
        "array": [],
        "string": "x",
        "empty object": {},
        "no kind": {"command": "ls"},
        "unknown kind": {"kind": "shell", "command": "ls"},
        "kind of another type": {"kind": 1, "command": "ls"},
        "command missing": {"kind": "command"},
        "command empty": {"kind": "command", "command": ""},
        "unknown field": {"kind": "command", "command": "ls", "admin": True},
        "bare command": {"command": "ls", "admin": True},
        "tool missing": {"kind": "tool", "arguments": []},
        "tool unseen": {"kind": "tool", "tool": "T\u202e"},
        "both forms": {
            "kind": "tool",
            "tool": "T",
            "arguments": {},
            "arguments_json": "",
        },
        "both forms, bare": {"tool": "T", "arguments": {}, "arguments_json": ""},
        "lines": {"kind": "edit", "file_path": "a", "content": "", "diff_lines": 1.0},
        "no edits": {
            "kind": "multi_edit",
            "file_path": "a",
            "original": "",
            "edits": [],
        },
        "wrong in a list": {**SEVERAL, "edits": [{"old": "a"}, {"new": 1}]},
        "unknown policy": {"command": "ls", "policy": "never"},
        "policy of another type": {"tool": "T", "policy": None},
    }
    raw = {
        "nothing": b"",
        "no JSON": b"{",
        "duplicate key": b'{"command": "ls", "command": "ls"}',
        "NaN": b'{"tool": "T", "arguments": {"a": NaN}}',
        "lone surrogate": rb'{"command": "\ud800"}',
        "NUL": b'{"command": "a\\u0000"}',
        "too deep": b'{"arguments": ' + b"[" * 33 + b"]" * 33 + b"}",
        "2^53": b'{"tool": "T", "arguments": {"a": 9007199254740992}}',
    }
    return {name: json.dumps(body).encode() for name, body in documents.items()} | raw


def test_bad_bodies_are_refused_in_the_same_words(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        paths = [f"/evaluate/{door}" for door in DOORS]
        for path in (f"/runs/{stage.run}/tool-calls", *paths):
            for what, raw in wrong_bodies().items():
                for who in ("agent", "person"):
                    client = getattr(stage, who)
                    answer = client.post(path, content=raw, headers=JSON)
                    shown = path.replace(stage.run, "<run>")
                    stage.hear(f"{who}: {what} to {shown}", answer)

    alike(stages)


def test_odd_heads_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        call = {"kind": "command", "command": "ls"}
        for path, body in (
            (f"runs/{stage.run}/tool-calls", call),
            ("evaluate/command", {"command": "ls"}),
        ):
            for what, odd in ODD_HEADERS.items():
                shown = path.replace(stage.run, "<run>")
                answer = odd_request(stage, path, body, odd)
                stage.hear(f"{what} at {shown}", answer)

    alike(stages)


def test_addresses_and_verbs_are_answered_alike(stages: tuple[Stage, Stage]) -> None:
    absent = "01900000-0000-7000-8000-000000000000"
    call = {"kind": "command", "command": "ls"}
    for stage in stages:
        agent, run, hear = stage.agent, stage.run, stage.hear
        for code in (absent, "x", "%00", "%2e%2e", run.upper(), "é"):
            shown = code if code != run.upper() else "upper case"
            hear(f"run {shown}", agent.post(f"/runs/{code}/tool-calls", json=call))
        paths = [f"/runs/{run}/tool-calls", *(f"/evaluate/{door}" for door in DOORS)]
        for path in paths:
            shown = path.replace(run, "<run>")
            for verb in ("GET", "PUT", "DELETE", "HEAD", "OPTIONS"):
                hear(f"{verb} {shown}", agent.request(verb, path))
            hear(f"{shown} with a slash", agent.post(f"{path}/", json=call))
            hear(f"{shown} with a query", agent.post(f"{path}?key=crk_x", json=call))

    alike(stages)
