"""The command hook from a host's event to the request, and every way in which it fails."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from checkrail.hooks import command, locations, transcripts
from checkrail.hooks.sending import HookRequest, NoAnswer

from tests.gateway.coding_agents.test_transcripts import message, write

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")


class Hook:
    """Runs the command in this process; `requests` is what it would have sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests: list[HookRequest] = []
        self.error: Exception | None = None
        self._patch = monkeypatch
        monkeypatch.setattr(command, "send_event", self._send)

    def _send(self, request: HookRequest) -> dict[str, Any]:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return {"heard": True}

    def run(
        self, event: object, *options: str, name: str = "PreToolUse", host: str = ""
    ) -> int:
        raw = event if isinstance(event, bytes) else json.dumps(event).encode()
        self._patch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
        return command.answer([host or "claude-code", name, *options])

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.requests[-1].body)
        return body


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hook:
    for name in os.environ:
        if name.startswith(("CLAUDE", "CODEX", "CHECKRAIL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CHECKRAIL_KEY", " crk_x\n")
    return Hook(monkeypatch)


@pytest.fixture
def event(hook: Hook, tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "session.jsonl"
    path.touch()
    return {"session_id": "s", "transcript_path": str(path)}


def test_each_event_is_held_for_as_long_as_its_host_waits(hook: Hook) -> None:
    for name, options, wait, outage in (
        ("PreToolUse", (), 570.0, 60.0),
        ("PreToolUse", ("--wait-s", "20", "--outage-s", "7"), 20.0, 7.0),
        ("Stop", ("--wait-s", "20"), 20.0, 60.0),
        ("UserPromptSubmit", ("--wait-s", "20"), 25.0, 15.0),
        ("UserPromptSubmit", ("--outage-s", "0"), 25.0, 0.0),
        ("SessionStart", (), 570.0, 5.0),
        ("SessionEnd", ("--wait-s", "20"), 1.2, 60.0),
    ):
        assert hook.run({}, *options, name=name) == 0
        request = hook.requests[-1]
        assert (request.wait, request.outage) == (wait, outage), (name, options)
        assert (request.host, request.event) == ("claude-code", name)


def test_the_server_the_key_and_the_options_are_those_that_were_given(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.run({})
    assert (hook.requests[-1].url, hook.requests[-1].key) == (
        "http://127.0.0.1:8000",
        "crk_x",
    )
    assert hook.requests[-1].query == {}
    assert capsys.readouterr().out == '{"heard": true}\n'
    monkeypatch.setenv("CHECKRAIL_URL", "http://a/")
    hook.run({}, "--on-allow", "allow", "--policy", "strict")
    assert hook.requests[-1].url == "http://a"
    assert hook.requests[-1].query == {"on_allow": "allow", "policy": "strict"}
    hook.run({}, "--url", "http://b")
    assert hook.requests[-1].url == "http://b"

    locations.get_key_file().parent.mkdir(parents=True)
    locations.get_key_file().write_text("crk_kept\n")
    hook.run({})
    assert hook.requests[-1].key == "crk_x", "the environment's comes first"
    monkeypatch.setenv("CHECKRAIL_KEY", " ")
    hook.run({})
    assert hook.requests[-1].key == "crk_kept"
    locations.get_key_file().unlink()
    assert hook.run({}) == 2
    assert "there is no key" in capsys.readouterr().err


def test_whatever_fails_holds(hook: Hook, capsys: pytest.CaptureFixture[str]) -> None:
    for raw, words in (
        (b"{", "is no JSON"),
        (b"", "is no JSON"),
        (b"\xff", "is no JSON"),
        (b"[]", "no JSON object"),
    ):
        assert hook.run(raw) == 2
        assert words in capsys.readouterr().err
    assert hook.requests == []
    hook.error = RuntimeError("odd")
    assert hook.run({}) == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == (
        "",
        "Checkrail: the hook failed, RuntimeError: odd\n",
    )
    assert hook.run({}, name="Stop") == 1
    capsys.readouterr()
    assert hook.run({}, "--open") == 0
    assert "not governed" in json.loads(capsys.readouterr().out)["systemMessage"]
    for wrong in (["--wait-s", "x"], ["--on-allow", "all"], ["--new"]):
        with pytest.raises(SystemExit) as ended:
            hook.run({}, *wrong)
        assert ended.value.code == 2, "any other code would let the host go on"
        assert "set up wrongly" in capsys.readouterr().err


def test_a_host_without_anybody_at_it_is_told_of(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def is_headless(*options: str, host: str = "", event: object = None) -> bool:
        hook.run(event or {}, *options, host=host)
        return bool(hook.body["checkrail"].get("headless", False))

    assert not is_headless()
    assert is_headless("--headless")
    for attended, entrypoint, expected in (
        ("0", "cli", True),
        ("1", "sdk-py", False),
        (None, "sdk-py", True),
        (None, "cli", False),
    ):
        monkeypatch.delenv("CLAUDE_CODE_SESSION_ATTENDED", raising=False)
        if attended is not None:
            monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", attended)
        monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", entrypoint)
        assert is_headless() == expected
    path = tmp_path / "codex.jsonl"
    for first, expected in (
        ('{"payload": {"source": "exec"}}', True),
        ('{"payload": {"source": "cli"}}', False),
        ("half a li", False),
    ):
        path.write_text(first + "\n")
        event = {"transcript_path": str(path)}
        assert is_headless(host="codex", event=event) == expected
    assert not is_headless(host="codex")


def test_a_long_result_is_shortened_and_a_call_never(hook: Hook) -> None:
    long = "a" * 3000 + "b" * 3000
    nested = {"images": [{"data": long}] * 60, "n": 1}
    hook.run({"tool_input": {"command": long}, "tool_response": nested})
    sent = hook.body
    assert sent["tool_input"] == {"command": long}, "what is judged is judged whole"
    assert len(sent["tool_response"]["images"]) == 50
    text = sent["tool_response"]["images"][0]["data"]
    assert text == f"{'a' * 2000}\n… 2000 characters left out …\n{'b' * 2000}"
    hook.run({"tool_response": "x" * 4000})
    assert hook.body["tool_response"] == "x" * 4000
    hook.run({"a": 1})
    assert hook.body == {"a": 1, "checkrail": {"tokens": 0}}


def test_tokens_are_told_at_the_events_that_end_something(
    hook: Hook, event: dict[str, Any]
) -> None:
    told = {}
    for number, name in enumerate(
        (
            *("SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
            *("Stop", "SubagentStop", "SessionEnd"),
        )
    ):
        hook.run(event, name=name)
        told[name] = hook.body["checkrail"]["tokens"]
        write(event, message(str(number), 2**number))
    assert told == {
        "SessionStart": 0,
        "PreToolUse": 0,
        "PostToolUse": 1 + 2,
        "PostToolUseFailure": 4,
        "Stop": 8,
        "SubagentStop": 16,
        "SessionEnd": 32,
    }


def test_what_stood_there_when_a_prompt_began_the_run_is_not_told(
    hook: Hook, event: dict[str, Any]
) -> None:
    write(event, message("a", 5))
    hook.run(event, name="UserPromptSubmit")
    write(event, message("b", 7))
    hook.run(event, name="UserPromptSubmit")  # the second one begins nothing
    hook.run(event, name="Stop")
    assert hook.body["checkrail"]["tokens"] == 7


def test_tokens_that_nobody_heard_of_are_told_the_next_time(
    hook: Hook, event: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    hook.run(event, name="SessionStart")
    write(event, message("a", 5))
    hook.error = NoAnswer("gone")
    hook.run(event, name="PostToolUse")
    write(event, message("b", 7))
    hook.run(event, name="PostToolUse")
    hook.error = None
    hook.run(event, name="Stop")
    assert hook.body["checkrail"]["tokens"] == 12
    hook.run(event, name="Stop")
    assert hook.body["checkrail"]["tokens"] == 0
    capsys.readouterr()


def test_without_a_place_to_keep_the_count_the_event_goes_out_all_the_same(
    hook: Hook,
    event: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert hook.run(event, name="Stop") == 0
    assert "tokens are not counted" in capsys.readouterr().err
    monkeypatch.setenv("CLAUDE_ENV_FILE", str(tmp_path / "file" / "env"))
    assert hook.run(event, name="SessionStart") == 0
    assert "the session is not marked" in capsys.readouterr().err


# The files that keep the count


def test_sessions_and_hosts_have_a_count_each(
    event: dict[str, Any], hook: Hook
) -> None:
    write(event, message("a", 5))
    other = {**event, "session_id": "t"}
    assert transcripts.count_new_tokens("claude-code", event).tokens == 5
    assert transcripts.count_new_tokens("claude-code", other).tokens == 5
    assert transcripts.count_new_tokens("claude-code", event).tokens == 0
    assert transcripts.count_new_tokens("codex", event).tokens == 0
    for nameless in ({}, {"session_id": 7}):
        assert transcripts.count_new_tokens("claude-code", nameless).tokens == 0
    folder = locations.get_state_folder()
    assert len(list(folder.iterdir())) == 3
    assert folder.stat().st_mode & 0o777 == 0o700


def test_half_a_line_is_left_for_the_next_time(
    event: dict[str, Any], hook: Hook
) -> None:
    whole = json.dumps(message("a", 5))
    write(event, message("b", 1), whole[:20])
    assert transcripts.count_new_tokens("claude-code", event).tokens == 1
    write(event, whole[20:] + "\n")
    assert transcripts.count_new_tokens("claude-code", event).tokens == 5


def test_figures_that_grow_count_by_their_growth(
    event: dict[str, Any], hook: Hook
) -> None:
    write(
        event,
        message("a", 5, cache_read_input_tokens=900, cache_creation_input_tokens=2),
        message("a", 9),
        message("a", 4),
        message("b", -3),
        {"message": {"id": "c", "usage": None}},
        {"message": ["usage"]},
        '{"usage"\n',
        message("a", 10),
    )
    assert transcripts.count_new_tokens("claude-code", event).tokens == 10
    write(event, *(message(str(n), 1) for n in range(49)))
    write(event, message("a", 11))
    assert transcripts.count_new_tokens("claude-code", event).tokens == 49 + 1


def test_codex_counts_what_is_not_from_the_cache(
    event: dict[str, Any], hook: Hook
) -> None:
    def count(total: int, cached: int) -> dict[str, Any]:
        usage = {"total_tokens": total, "cached_input_tokens": cached}
        info = {"total_token_usage": usage}
        return {"payload": {"type": "token_count", "info": info}}

    write(event, count(10, 4), count(30, 20), count(5, 0))
    assert transcripts.count_new_tokens("codex", event).tokens == 10
    write(event, {"payload": {"type": "token_count", "info": None}}, count(40, 20))
    assert transcripts.count_new_tokens("codex", event).tokens == 10


def test_counts_of_long_ago_are_deleted_and_no_others(
    event: dict[str, Any], hook: Hook
) -> None:
    folder = locations.get_state_folder()
    folder.mkdir(parents=True)
    day = 24 * 3600
    for name, age in (("old.json", 61), ("new.json", 59), ("old.txt", 99)):
        (folder / name).write_text("{}")
        moment = time.time() - age * day
        os.utime(folder / name, (moment, moment))
    transcripts.skip_earlier_lines("claude-code", event)
    assert not (folder / "old.json").exists()
    assert (folder / "new.json").exists()
    assert (folder / "old.txt").exists()
