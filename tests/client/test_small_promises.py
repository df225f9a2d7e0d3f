"""Small promises of the client: what it closes, keeps, sends and says in passing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import AsyncCheckrail, Checkrail, ProtocolError, Unreachable, streaming
from checkrail.flows.backlog import StepReport
from checkrail.hooks import locations
from checkrail.testing import answer, approve, fake_checkrail, nobody


def test_connections_end_with_the_last_run_that_uses_them() -> None:
    with fake_checkrail():
        rail = Checkrail()
        first, second = rail.run("One"), rail.run("Two")
        open_ones = [rail.driver._pool is not None]
        first.finish()
        open_ones.append(rail.driver._pool is not None)
        first.close()  # twice does not count twice
        open_ones.append(rail.driver._pool is not None)
        second.close()
        open_ones.append(rail.driver._pool is not None)
        assert open_ones == [True, True, True, False]
        third = rail.run("Three")  # a later request opens new ones
        third.close()
        broken = Checkrail("http://h", "crk_x", retry_seconds=0.1, transport=Refusing())
        with pytest.raises(Unreachable):
            broken.run("Never")
        assert broken.driver._pool is None, "a run that never began holds nothing"


class Refusing(httpx.BaseTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)


async def test_on_an_event_loop_they_end_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_checkrail() as fake:
        rail = AsyncCheckrail(retry_seconds=0.5)
        run = await rail.run("One")
        await run.finish()
        assert rail.driver._pool is None
        second = await rail.run("Two")
        fake.cut()
        with pytest.raises(Unreachable):
            await second.step()
        await second.close()
        assert rail.driver._pool is None
        assert "1 step were not sent" in caplog.text
        fake.mend()
        async with AsyncCheckrail() as other:
            third = await other.resume(second.id)
            assert third.resumed
            await third.close()


def test_a_callback_on_an_event_loop_needs_the_other_client() -> None:
    async def on_wait(_review: object) -> None:
        raise AssertionError("nobody awaits it")

    with fake_checkrail(rulings=[approve()]):
        run = Checkrail().run("Callback", on_wait=on_wait)
        with pytest.raises(TypeError, match="use it with AsyncCheckrail"):
            run.request_approval("May I?")
        run.disconnect()


def test_a_failure_is_known_to_the_run_itself() -> None:
    with fake_checkrail():
        run = Checkrail().run("Fails")
        with pytest.raises(KeyError), run:
            raise KeyError
        assert run.state.status == "failed"
        assert run.url == run.state.url


def test_only_notes_on_pauses_are_kept_for_later() -> None:
    with fake_checkrail(
        decisions=["pause", "pause"],
        rulings=[approve("with a note"), approve(), answer("x", note="on a question")],
    ):
        run = Checkrail().run("Notes")
        run.step()
        run.step()
        run.ask("Which?")
        assert [ruling.note for ruling in run.pause_rulings] == ["with a note"]
        assert run.ruling is not None
        assert run.ruling.note == "on a question"
        run.disconnect()


def test_what_is_due_is_saved_before_more_is_sent() -> None:
    due = {"decision": "continue", "checkpoint_due": True}
    seen: list[int] = []
    with fake_checkrail(decisions=["continue", due]) as rail:

        def save(_decision: object) -> dict[str, Any]:
            seen.append(len(rail.steps))
            return {}

        run = Checkrail().run(
            "Due", batch_steps=2, batch_seconds=60, on_checkpoint=save
        )
        run.backlog.steps.extend(
            StepReport({"tokens": n, "tool_calls": 0}) for n in range(5)
        )
        run.flush()
        assert seen == [2]
        assert len(rail.steps) == 5
        run.disconnect()


def test_a_person_who_is_needed_is_named() -> None:
    with fake_checkrail(turns=["needs_human"], rulings=[nobody()]) as rail:
        run = Checkrail().run("Turn")
        whole = run.turn().raw
        assert run.standing().state == "open"
        rail.server.get_review(whole["review"]["id"]).state = "withdrawn"
        rail.trouble(httpx.Response(201, json={**whole, "review": None}))
        with pytest.raises(ProtocolError, match="no review says where"):
            run.turn(wait=True)
        run.disconnect()


def test_every_kind_of_call_is_asked_about_whole() -> None:
    with fake_checkrail(rulings=[approve()] * 4) as rail:
        run = Checkrail().run("Calls")
        run.check_command("ls", tool="Shell", arguments={"command": "ls", "cwd": "/"})
        run.check_edit("a.py", "x", tool="Write", diff_lines=3)
        run.check_multi_edit("a.py", "x", [{"old": "x", "new": "y"}], tool="Many")
        run.check_tool("query", {"a": 1}, confirm=True)
        run.disconnect()
    sent = rail.sent("POST", "/tool-calls")
    assert sent[0] == {
        "kind": "command",
        "tool": "Shell",
        "command": "ls",
        "arguments": {"command": "ls", "cwd": "/"},
    }
    assert sent[1] == {
        "kind": "edit",
        "tool": "Write",
        "file_path": "a.py",
        "content": "x",
        "diff_lines": 3,
    }
    assert (sent[2]["tool"], sent[2]["original"]) == ("Many", "x")
    assert sent[3] == {
        "kind": "tool",
        "tool": "query",
        "arguments": {"a": 1},
        "confirm": True,
    }
    assert all("confirm" not in each for each in sent[:3])


def test_a_verdict_moves_the_check_on() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Checks")
        check = run.gate_check(["x"])
        outcome = check.verdict("PASS", "Well.")
        assert outcome.status
        assert check.state.status == outcome.status
        assert check.prompt == outcome.prompt
        assert len(rail.sent("POST", "/verdicts")) == 1
        run.disconnect()


def test_a_reader_of_events_comes_back_later_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("random.uniform", lambda _low, high: high)
    reader = streaming._StreamReader("a/b", 0, patience=None)
    assert reader.path == "/runs/a%2Fb/events"
    pauses = []
    for failures in (0, 1, 2, 3, 20):
        reader._failures = failures
        pauses.append(round(reader.get_pause() / 1.2, 3))
    assert pauses == [2, 2, 4, 8, 30]
    reader._retry_after = 90.0
    assert reader.get_pause() == pytest.approx(90 * 1.2)
    assert "Last-Event-ID" not in reader.build_request()["headers"]
    list(reader.read_chunk(b'retry: 50\nid: 4\nevent: x\ndata: {"a": 1}\n\n'))
    assert (reader._failures, reader._retry_after) == (0, 0.0)
    assert reader.get_pause() == pytest.approx(0.05 * 1.2)
    request = reader.build_request()
    assert request["headers"]["Last-Event-ID"] == "4"
    assert request["headers"]["Accept"] == "text/event-stream"
    assert request["timeout"].read == 45


def test_a_reader_of_events_takes_nothing_else_for_them() -> None:
    reader = streaming._StreamReader("a", 0, patience=None)

    def judge(status: int, kind: str = "text/event-stream; charset=utf-8") -> bool:
        request = httpx.Request("GET", "http://checkrail.test")
        response = httpx.Response(
            status, headers={"Content-Type": kind}, request=request
        )
        return reader.accept(response)

    assert judge(200)
    assert not judge(503)
    with pytest.raises(ProtocolError, match="something else than events"):
        judge(200, "text/html")
    ended = [reader.ended]
    assert judge(204)
    assert [*ended, reader.ended] == [False, True]
    for data in ("[]", "x"):
        with pytest.raises(ProtocolError):
            list(reader.read_chunk(f"id: 9\ndata: {data}\n\n".encode()))


def test_files_of_hooks_lie_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    assert locations.get_key_file() == tmp_path / ".config/checkrail/hook.key"
    assert locations.get_state_folder() == tmp_path / ".local/state/checkrail/hooks"
    assert locations.get_claude_settings() == tmp_path / ".claude/settings.json"
    assert locations.get_codex_folder() == tmp_path / ".codex"
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
    ):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert locations.get_key_file() == tmp_path / "XDG_CONFIG_HOME/checkrail/hook.key"
    assert locations.get_copies_folder() == tmp_path / "XDG_STATE_HOME/checkrail/copies"
    assert (
        locations.get_claude_settings() == tmp_path / "CLAUDE_CONFIG_DIR/settings.json"
    )
    assert locations.get_codex_folder() == tmp_path / "CODEX_HOME"
