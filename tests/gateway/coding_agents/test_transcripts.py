"""Tokens are counted once, whatever a host writes twice, late or half."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from checkrail.hooks import transcripts


@pytest.fixture
def event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "session.jsonl"
    path.touch()
    return {"session_id": "s", "transcript_path": str(path)}


def write(event: dict[str, Any], *lines: dict[str, Any] | str) -> None:
    with Path(event["transcript_path"]).open("a") as file:
        for line in lines:
            file.write(line if isinstance(line, str) else json.dumps(line) + "\n")


def message(code: str, tokens: int, **more: int) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": 0, **more}
    return {"type": "assistant", "message": {"id": code, "usage": usage}}


def test_each_message_of_claude_code_counts_once(event: dict[str, Any]) -> None:
    transcripts.skip_earlier_lines("claude-code", event)
    write(event, {"type": "user", "message": {"content": "usage"}}, message("a", 10))
    write(event, message("a", 10), message("a", 10, output_tokens=5), "no JSON\n")
    assert transcripts.count_new_tokens("claude-code", event).tokens == 15
    # The rest of a message, half a line, and a line of unknown form.
    line = json.dumps(message("b", 7))
    write(event, message("a", 10, output_tokens=6), line[:20])
    assert transcripts.count_new_tokens("claude-code", event).tokens == 1
    write(event, line[20:] + "\n", {"message": {"usage": None}}, "[]\n")
    assert transcripts.count_new_tokens("claude-code", event).tokens == 7
    used = transcripts.count_new_tokens("claude-code", event)
    assert used.tokens == 0

    write(event, message("c", 3))
    transcripts.count_new_tokens("claude-code", event).undo()
    assert transcripts.count_new_tokens("claude-code", event).tokens == 3


def test_what_was_there_before_is_not_of_this_run(event: dict[str, Any]) -> None:
    write(event, message("a", 10))
    transcripts.skip_earlier_lines("claude-code", event)
    write(event, message("b", 7))
    transcripts.skip_earlier_lines("claude-code", event)
    assert transcripts.count_new_tokens("claude-code", event).tokens == 7


def test_a_subagents_own_transcript_is_read(
    event: dict[str, Any], tmp_path: Path
) -> None:
    write(event, message("a", 10))
    own = tmp_path / "agent.jsonl"
    own.write_text(json.dumps(message("b", 4)) + "\n")
    ending = {**event, "agent_transcript_path": str(own)}
    assert transcripts.count_new_tokens("claude-code", ending).tokens == 14
    assert transcripts.count_new_tokens("claude-code", ending).tokens == 0


def test_tokens_are_told_by_model_and_kind(event: dict[str, Any]) -> None:
    """Each once, also where a message is written again; what a cache gave is no token of
    the count, and still has a price."""
    cached = {"cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 7}
    lines = [
        message("a", 10, output_tokens=1, **cached),
        message("a", 10, output_tokens=5, **cached),
        message("b", 2, output_tokens=3),
    ]
    for line, model in zip(lines, ("large", "large", "small"), strict=True):
        line["message"]["model"] = model
    write(event, *lines)
    used = transcripts.count_new_tokens("claude-code", event)
    large = {
        "model": "large",
        "input_tokens": 10,
        "cached_input_tokens": 4_000,
        "cache_write_tokens": 7,
        "output_tokens": 5,
    }
    none = dict.fromkeys(transcripts.KINDS, 0)
    small = {**none, "model": "small", "input_tokens": 2, "output_tokens": 3}
    assert used.usage == [large, small]
    assert used.tokens == 27
    used.undo()
    write(event, message("b", 2, output_tokens=4))
    again = transcripts.count_new_tokens("claude-code", event)
    assert again.usage == [large, small, {**none, "model": "", "output_tokens": 1}]
    assert transcripts.count_new_tokens("claude-code", event).usage == []


def test_codex_names_its_model_at_the_beginning_of_a_turn(
    event: dict[str, Any],
) -> None:
    def total(**usage: int) -> dict[str, Any]:
        info = {"total_token_usage": usage}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    write(
        event,
        {"type": "turn_context", "payload": {"model": "large"}},
        total(
            input_tokens=90, cached_input_tokens=60, output_tokens=10, total_tokens=100
        ),
        {"type": "turn_context", "payload": {"model": "small"}},
        total(
            input_tokens=190, cached_input_tokens=60, output_tokens=25, total_tokens=215
        ),
    )
    used = transcripts.count_new_tokens("codex", event)
    names = ("model", *transcripts.KINDS)
    assert [tuple(each[name] for name in names) for each in used.usage] == [
        ("large", 30, 60, 0, 10),
        ("small", 100, 0, 0, 15),
    ]
    assert used.tokens == 155


def test_codex_writes_running_totals(event: dict[str, Any]) -> None:
    def total(tokens: int, cached: int) -> dict[str, Any]:
        usage = {"total_tokens": tokens, "cached_input_tokens": cached}
        info = {"total_token_usage": usage}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    write(event, {"type": "session_meta", "payload": {"source": "exec"}})
    write(event, total(100, 20))
    assert transcripts.is_codex_headless(event)
    assert transcripts.count_new_tokens("codex", event).tokens == 80
    empty = {"type": "event_msg", "payload": {"type": "token_count", "info": None}}
    write(event, total(100, 20), empty, total(250, 60))
    assert transcripts.count_new_tokens("codex", event).tokens == 110


def test_hooks_that_run_side_by_side_share_the_count(event: dict[str, Any]) -> None:
    write(event, *(message(f"m{number}", 1) for number in range(100)))
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = pool.map(
            lambda _: transcripts.count_new_tokens("claude-code", event).tokens,
            range(8),
        )
        assert sum(found) == 100


def test_a_transcript_that_was_written_anew_is_read_from_its_start(
    event: dict[str, Any],
) -> None:
    write(event, message("a", 10), message("b", 20), message("c", 30))
    assert transcripts.count_new_tokens("claude-code", event).tokens == 60

    Path(event["transcript_path"]).write_text("")
    write(event, message("c", 30), message("d", 4))

    assert transcripts.count_new_tokens("claude-code", event).tokens == 4
