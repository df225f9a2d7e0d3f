"""The command hook as the hosts start it: a process, an event on stdin, an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from checkrail.hooks import sending
from checkrail.hooks.events import EVENTS, build_failure

from tests.gateway.coding_agents.hosts import Host, is_waited_for, load_recorded
from tests.gateway.coding_agents.schemas import check_answer
from tests.support.builders import Robot
from tests.support.live import Live
from tests.support.network import Network
from tests.support.people import rule
from tests.support.waiting import until

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")

CLIENT = Path(__file__).resolve().parents[3] / "client"
NOWHERE = "http://127.0.0.1:9"
# A server that is not there is not tried for a minute in a test.
AWAY = ("--url", NOWHERE, "--outage-s", "1")
ASKED = "rm -rf build"

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path, robo: Robot) -> Start:
    """Starts the hook of an event, with the event on its way to stdin."""

    def started(
        event: dict[str, Any] | str,
        *options: str,
        dialect: str = "claude-code",
        name: str = "PreToolUse",
        **more: str,
    ) -> subprocess.Popen[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(CLIENT),
            "CHECKRAIL_KEY": robo.key,
            **more,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "checkrail.hooks", dialect, name, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stdin is not None
        process.stdin.write(event if isinstance(event, str) else json.dumps(event))
        process.stdin.close()
        process.stdin = None
        return process

    return started


def wait_for_end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def pre(host: Host, command: str) -> dict[str, Any]:
    return {
        **load_recorded("claude-code", "PreToolUse-Bash"),
        "session_id": host.session,
        "tool_input": {"command": command},
    }


def test_it_says_what_the_server_says(live: Live, claude: Host, start: Start) -> None:
    assert wait_for_end(start(pre(claude, "ls"), "--url", live.url)) == (0, "{}\n", "")

    code, out, err = wait_for_end(
        start(pre(claude, "ls -la"), "--url", live.url, CHECKRAIL_KEY="crk_wrong")
    )
    answer = check_answer("claude-code", "PreToolUse", json.loads(out))
    assert (code, err) == (0, "")
    assert "CHECKRAIL_KEY" in str(answer)


def test_every_event_fails_closed_without_a_server(start: Start) -> None:
    for dialect in EVENTS:
        for event in EVENTS[dialect]:
            ending = build_failure(event, "the server cannot be reached")
            if event in {"PreToolUse", "UserPromptSubmit"}:
                assert (ending.code, ending.out) == (2, ""), event
                assert "cannot be reached" in ending.err
            elif event in {"PostToolUse", "PostToolUseFailure", "PermissionRequest"}:
                answer = check_answer(dialect, event, json.loads(ending.out))
                assert answer.get("continue") is False or "deny" in ending.out
            else:
                # An exit code of 2 would send an agent that stops on its way again.
                assert (ending.code, ending.out) == (1, ""), event
                assert ending.err

    real = {
        event: start({"session_id": "s"}, *AWAY, name=event)
        for event in ("PreToolUse", "PostToolUse", "Stop")
    }
    codes = {}
    for event, process in real.items():
        codes[event], out, err = wait_for_end(process)
        assert NOWHERE in out + err
    assert codes == {"PreToolUse": 2, "PostToolUse": 0, "Stop": 1}


def test_what_else_goes_wrong_fails_closed_too(
    live: Live, claude: Host, start: Start
) -> None:
    wrong = [
        (start("[", "--url", live.url), "no JSON"),
        (start(pre(claude, "ls"), "--url", "ftp://x"), "no address"),
        (
            start(pre(claude, "ls"), "--url", f"{live.url}/wrong"),
            "address of Checkrail",
        ),
        (start(pre(claude, "ls"), "--url", live.url, CHECKRAIL_KEY=""), "no key"),
        (start(pre(claude, "ls"), "--wait-s", "x"), "set up wrongly"),
    ]
    for process, words in wrong:
        code, out, err = wait_for_end(process)
        assert (code, out) == (2, ""), err
        assert words in err


def test_an_empty_answer_of_somebody_else_is_no_leave(
    claude: Host, start: Start
) -> None:
    """A login page of a network, or another server at the address."""

    class Stranger(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    server = HTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        code, out, err = wait_for_end(start(pre(claude, "ls"), "--url", url))
    finally:
        server.shutdown()
        server.server_close()
    assert (code, out) == (2, "")
    assert "is it Checkrail?" in err


def test_what_arrived_too_slowly_is_sent_again_where_it_may_be() -> None:
    """The server says so by a status, or by an answer that holds."""
    heard: list[str] = []

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            heard.append(self.path)
            self.send_response(408 if len(heard) == 1 else 200)
            self.send_header("Checkrail-Hook", "1")
            if len(heard) == 2:
                self.send_header("Checkrail-Trouble", "request-timeout")
            self.end_headers()
            self.wfile.write(json.dumps({"try": len(heard)}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Slow) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        call = sending.HookRequest(
            url, "crk_x", "claude-code", "PreToolUse", {}, b"{}", wait=20
        )
        try:
            assert sending.send_event(call) == {"try": 3}
            heard.clear()
            with pytest.raises(sending.NoAnswer, match="408"):
                sending.send_event(replace(call, event="Stop"))
            assert len(heard) == 1
        finally:
            server.shutdown()
            thread.join()


def test_open_is_a_choice_that_is_told(claude: Host, start: Start) -> None:
    code, out, _ = wait_for_end(start(pre(claude, "ls"), *AWAY, "--open"))
    assert code == 0
    assert "not governed" in json.loads(out)["systemMessage"]


def test_it_waits_for_a_person(
    live: Live, claude: Host, start: Start, reviewer: httpx.Client
) -> None:
    process = start(pre(claude, ASKED), "--url", live.url)
    until(lambda: claude.known and is_waited_for(claude.run))
    assert process.poll() is None
    rule(reviewer, str(claude.review.code), "deny", note="not today")
    code, out, _ = wait_for_end(process)
    answer = check_answer("claude-code", "PreToolUse", json.loads(out))
    assert code == 0
    assert "not today" in answer["hookSpecificOutput"]["permissionDecisionReason"]


def test_a_cut_connection_is_mended_while_a_person_thinks(
    live: Live,
    claude: Host,
    robo: Robot,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The hook asks again, and finds its call where it was."""
    monkeypatch.setattr(sending, "HELD_AFTER", 0.1)
    with Network(live.url) as network, ThreadPoolExecutor() as pool:
        call = sending.HookRequest(
            url=network.url,
            key=robo.key,
            host="claude-code",
            event="PreToolUse",
            query={},
            body=json.dumps(pre(claude, ASKED)).encode(),
            wait=570,
        )
        answer = pool.submit(sending.send_event, call)
        until(lambda: claude.known and is_waited_for(claude.run))
        network.cut()
        until(lambda: not is_waited_for(claude.run))
        network.mend()
        until(lambda: is_waited_for(claude.run))
        rule(reviewer, str(claude.review.code), "approve")
        said = check_answer("claude-code", "PreToolUse", answer.result(timeout=60))
        assert said["hookSpecificOutput"]["permissionDecision"] == "allow"
        assert network.connections == 2

        network.cut()
        with pytest.raises(sending.NoAnswer, match="cannot be reached"):
            sending.send_event(replace(call, outage=0.5))


def test_a_restart_is_not_noticed(live: Live, claude: Host, start: Start) -> None:
    """The server is away when the hook begins, longer than one that is given up soon."""
    with Network(live.url) as network:
        network.cut()
        process = start(pre(claude, "ls"), "--url", network.url)
        time.sleep(3)
        assert process.poll() is None
        network.mend()
        assert wait_for_end(process) == (0, "{}\n", "")


def test_headless_is_told_by_the_host(
    live: Live, agent: httpx.Client, start: Start
) -> None:
    hosts = [Host(client=agent) for _ in range(3)]
    told = [
        {"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"},
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
    ]
    options = ("--url", live.url, "--wait-s", "20")
    processes = [
        start(pre(host, ASKED), *options, **more)
        for host, more in zip(hosts, told, strict=True)
    ]
    said = [json.loads(wait_for_end(process)[1]) for process in processes]
    decisions = [each["hookSpecificOutput"]["permissionDecision"] for each in said]
    assert decisions == ["defer", "ask", "defer"]


def test_tokens_come_from_the_transcript(
    live: Live, claude: Host, start: Start, tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("")
    common = {
        "session_id": claude.session,
        "transcript_path": str(transcript),
        "cwd": "/home/robo/shop",
    }
    prompt = {**common, "hook_event_name": "UserPromptSubmit", "prompt": "Go"}
    wait_for_end(start(prompt, "--url", live.url, name="UserPromptSubmit"))
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 90_000,
        "output_tokens": 42,
    }
    line = json.dumps({"type": "assistant", "message": {"id": "m", "usage": usage}})
    transcript.write_text(f"{line}\n{line}\n")
    after = {**load_recorded("claude-code", "PostToolUse-Bash"), **common}
    # Told to nobody, they are told with the next one.
    code, _, _ = wait_for_end(start(after, *AWAY, name="PostToolUse"))
    assert code == 0
    wait_for_end(start(after, "--url", live.url, name="PostToolUse"))
    assert claude.run.tokens_used == 147


def test_it_starts_quickly(tmp_path: Path) -> None:
    """What it loads is counted, not timed: neither httpx nor the SDK."""
    code = (
        "import sys; import checkrail.hooks.command; "
        "print(*(m for m in sys.modules if m.startswith(('httpx', 'checkrail.'))))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(CLIENT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert loaded
    small = ("checkrail.hooks", "checkrail.agent_session")
    assert all(name.startswith(small) for name in loaded), loaded


def test_a_session_that_begins_is_marked_in_its_environment(
    start: Start, live: Live, tmp_path: Path
) -> None:
    """What its commands send is then known to come from an agent."""
    file = tmp_path / "session.env"
    event = {"session_id": "ab-1; touch x", "hook_event_name": "SessionStart"}

    started = start(
        event, "--url", live.url, name="SessionStart", CLAUDE_ENV_FILE=str(file)
    )
    started.communicate(timeout=30)

    assert file.read_text() == (
        "export CHECKRAIL_AGENT_SESSION=claude-code:ab-1--touch-x\n"
    )
