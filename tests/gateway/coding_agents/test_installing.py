"""The hooks among everything else in a host's settings, once, and out again."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from checkrail.hooks import install, run
from checkrail.hooks.events import EVENTS
from checkrail.hooks.settings_files import BadSettings

from tests.support.builders import Robot
from tests.support.live import Live

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")

OTHERS: dict[str, Any] = {
    "model": "some-model",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./own.sh"}]}
        ],
        "Notification": [{"hooks": [{"type": "command", "command": "bell"}]}],
    },
}
URL = "https://checkrail.example.org"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and a home of its own beside it."""
    for variable in (
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CHECKRAIL_URL", "CHECKRAIL_KEY"),
        "XDG_STATE_HOME",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    project = tmp_path / "shop"
    (project / ".claude").mkdir(parents=True)
    return project


def settings(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_in_and_out_again_leaves_the_settings_as_they_were(folder: Path) -> None:
    places = {
        ("claude-code", "local"): folder / ".claude" / "settings.local.json",
        ("claude-code", "project"): folder / ".claude" / "settings.json",
        ("claude-code", "user"): Path.home() / ".claude" / "settings.json",
        ("codex", "user"): Path.home() / ".codex" / "hooks.json",
        ("codex", "project"): folder / ".codex" / "hooks.json",
    }
    for (host, scope), path in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(OTHERS))
        done = install(host, url=URL, scope=scope, folder=folder)
        assert (done.path, done.changed) == (path, True)
        assert done.backup is not None
        assert settings(done.backup) == OTHERS
        hooks = settings(path)["hooks"]
        assert set(EVENTS[host]) <= set(hooks)
        assert hooks["PreToolUse"][0] == OTHERS["hooks"]["PreToolUse"][0]
        assert hooks["Notification"] == OTHERS["hooks"]["Notification"]

        assert not install(host, url=URL, scope=scope, folder=folder).changed
        other = install(host, url=URL + "/2", scope=scope, folder=folder)
        assert other.changed
        assert path.read_text().count("PreToolUse --url") == 1
        assert install(host, scope=scope, folder=folder, uninstall=True).changed
        assert settings(path) == OTHERS


def test_the_command_holds_where_the_program_is_gone(folder: Path) -> None:
    done = install("claude-code", url=URL, wait_s=1800, policy="strict", folder=folder)
    hooks = settings(done.path)["hooks"]
    for event in EVENTS["claude-code"]:
        handler = hooks[event][0]["hooks"][0]
        assert f"checkrail.hooks claude-code {event} --url {URL}" in handler["command"]
        blocks = event in {"PreToolUse", "UserPromptSubmit"}
        assert handler["command"].endswith("|| exit 2") is blocks
        assert "--policy strict" in handler["command"]
    assert hooks["PreToolUse"][0]["hooks"][0]["timeout"] == 1830
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] < 10

    shared = install("claude-code", url=URL, scope="project", folder=folder)
    command = settings(shared.path)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command == f"checkrail hook claude-code Stop --url {URL}"


def test_a_key_is_never_written_where_others_read_it(folder: Path) -> None:
    key = "crk_not-a-real-one"
    done = install("claude-code", url=URL, key=key, scope="project", folder=folder)
    kept = Path.home() / ".config" / "checkrail" / "hook.key"
    assert kept.read_text().strip() == key
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    by_http = install(
        "claude-code", url=URL, key=key, scope="project", by_http=True, folder=folder
    )
    assert by_http.path == done.path
    assert key not in done.path.read_text()
    own = Path.home() / ".claude" / "settings.json"
    assert settings(own) == {"env": {"CHECKRAIL_KEY": key}}
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    handler = settings(done.path)["hooks"]["PreToolUse"][0]["hooks"][0]
    assert handler["type"] == "http"
    assert handler["headers"] == {"Authorization": "Bearer $CHECKRAIL_KEY"}
    assert handler["allowedEnvVars"] == ["CHECKRAIL_KEY"]
    assert re.match(rf"{URL}/api/v1/hooks/claude-code/PreToolUse\?", handler["url"])
    # Claude Code sends no HTTP hook when a session starts.
    assert "SessionStart" not in settings(done.path)["hooks"]


def test_a_file_that_cannot_be_read_is_not_touched(folder: Path) -> None:
    path = folder / ".claude" / "settings.local.json"
    for text in ("{not json", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'):
        path.write_text(text)
        with pytest.raises(BadSettings, match="mend it"):
            install("claude-code", url=URL, folder=folder)
        assert path.read_text() == text
    for wrong in (
        {"host": "cursor"},
        {"host": "codex", "by_http": True},
        {"host": "codex", "scope": "local"},
        {"host": "codex", "wait_s": 0},
    ):
        with pytest.raises(BadSettings):
            install(folder=folder, **wrong)


def test_what_is_empty_and_not_ours_stays(folder: Path) -> None:
    path = folder / ".claude" / "settings.local.json"
    own: dict[str, Any] = {"hooks": {"Notification": []}}
    for text in ('{"hooks": {}}', json.dumps(own)):
        path.write_text(text)
        assert not install("claude-code", uninstall=True, folder=folder).changed
    install("claude-code", url=URL, folder=folder)
    install("claude-code", uninstall=True, folder=folder)
    assert settings(path) == own


def test_no_copy_of_the_settings_is_written_over(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the same second, nor by another project of the same name."""
    monkeypatch.setattr("time.strftime", lambda *_: "20260101T000000")
    copies = Path.home() / ".local" / "state" / "checkrail" / "copies"
    own = Path.home() / ".claude" / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(OTHERS))
    more: dict[str, Any] = {"scope": "user", "folder": folder}
    done = install("claude-code", url=URL, by_http=True, key="crk_x", **more)
    # The file was written twice, for the hooks and for the key.
    assert [settings(copy) for copy in copies.iterdir()] == [OTHERS]
    assert done.backup in [*copies.iterdir()]
    install("claude-code", uninstall=True, **more)
    assert len([*copies.iterdir()]) == 2
    assert done.backup is not None
    assert settings(done.backup) == OTHERS

    made = set()
    for name in ("one", "two"):
        project = tmp_path / name / "shop"
        path = project / ".claude" / "settings.local.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"model": name}))
        copy = install("claude-code", url=URL, folder=project).backup
        assert copy is not None
        assert settings(copy) == {"model": name}
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        made.add(copy.name)
    assert len(made) == 2


def test_a_link_to_the_settings_stays_one(folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = folder / ".claude" / "settings.local.json"
    link.symlink_to(real)
    install("claude-code", url=URL, folder=folder)
    assert link.is_symlink()
    assert "PreToolUse" in real.read_text()


def test_the_command_line_says_what_it_did(
    folder: Path,
    live: Live,
    robo: Robot,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    words = ["install", "claude-code", "--url", live.url, "--key", robo.key]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "settings.local.json" in said
    assert "answers and knows the key" in said
    assert run([*words[:-1], "crk_wrong"]) == 0
    assert "does not know this key" in capsys.readouterr().out
    assert run(["install", "codex", "--url", "http://127.0.0.1:9", "--key", "x"]) == 0
    said = capsys.readouterr().out
    assert "cannot be reached" in said
    assert "/hooks" in said
    assert run(["install", "codex", "--http"]) == 1
    assert "no HTTP hooks" in capsys.readouterr().err
