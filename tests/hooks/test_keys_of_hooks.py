"""Where an installation keeps the agent's key, and that nothing of it is left behind."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from checkrail.hooks import install

from tests.hooks.test_installing import URL, folder, settings

__all__ = ["folder"]

KEY = "crk_not-a-real-one"


def holding(*roots: Path) -> list[Path]:
    """Every file below that holds the key."""
    return [
        path
        for root in roots
        for path in sorted(root.rglob("*"))
        if path.is_file() and KEY in path.read_text(errors="replace")
    ]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("by_http", [False, True], ids=["command", "http"])
@pytest.mark.parametrize("scope", ["local", "project", "user"])
def test_in_and_out_again_leaves_no_key(
    folder: Path, scope: str, by_http: bool
) -> None:
    own = {"env": {"OTHER": "1"}}
    local = folder / ".claude" / "settings.local.json"
    local.write_text(json.dumps(own))
    more: dict[str, Any] = {"scope": scope, "folder": folder}
    install("claude-code", url=URL, key=KEY, by_http=by_http, **more)
    (kept,) = holding(Path.home(), folder)
    assert Path.home() in kept.parents, "never in the folder of a project"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    # Again with another key: the copy of what was there must not have the first.
    install("claude-code", url=URL, key="crk_another", by_http=by_http, **more)
    assert holding(Path.home(), folder) == []
    install("claude-code", url=URL, key=KEY, by_http=by_http, **more)

    done = install("claude-code", uninstall=True, **more)

    assert holding(Path.home(), folder) == []
    assert any("key" in note for note in done.notes)
    assert settings(local) == own


def test_nothing_that_was_installed_is_added_to_a_repository(folder: Path) -> None:
    git(folder, "init", "-q")
    local = folder / ".claude" / "settings.local.json"
    local.write_text(json.dumps({"env": {"OTHER_TOKEN": "secret"}}))
    local_before = git(folder, "add", "-An").splitlines()
    for by_http in (False, True):
        install("claude-code", url=URL, key=KEY, by_http=by_http, folder=folder)
    install("claude-code", uninstall=True, folder=folder)
    # A copy of the settings may hold secrets of others, too: it lies elsewhere.
    assert git(folder, "add", "-An").splitlines() == local_before


def test_the_key_stays_while_other_hooks_need_it(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    install("claude-code", url=URL, key=KEY, folder=folder)
    install("claude-code", url=URL, key=KEY, folder=other)
    install("codex", url=URL, key=KEY)
    done = install("claude-code", uninstall=True, folder=folder)
    assert holding(Path.home()) != []
    assert any(str(other) in note for note in done.notes)
    # Hooks that somebody took out by hand need none.
    (other / ".claude" / "settings.local.json").write_text("{}")
    install("codex", uninstall=True)
    assert holding(Path.home()) == []


def test_a_key_in_a_projects_own_settings_is_taken_out(folder: Path) -> None:
    """Earlier versions kept it there."""
    local = folder / ".claude" / "settings.local.json"
    local.write_text(json.dumps({"env": {"CHECKRAIL_KEY": KEY, "OTHER": "1"}}))
    more: dict[str, Any] = {"scope": "project", "folder": folder}
    install("claude-code", url=URL, by_http=True, **more)
    assert holding(folder) == []
    assert holding(Path.home()) == [Path.home() / ".claude" / "settings.json"]
    local.write_text(json.dumps({"env": {"CHECKRAIL_KEY": KEY, "OTHER": "1"}}))
    install("claude-code", uninstall=True, **more)
    assert settings(local) == {"env": {"OTHER": "1"}}
    assert holding(Path.home()) == []


def test_another_way_leaves_no_key_of_the_first(folder: Path) -> None:
    install("claude-code", url=URL, key=KEY, folder=folder)
    install("claude-code", url=URL, key=KEY, by_http=True, folder=folder)
    (kept,) = holding(Path.home(), folder)
    assert kept == Path.home() / ".claude" / "settings.json"


def test_the_status_line_says_who_is_asked_and_where(folder: Path) -> None:
    for host, by_http in (
        ("claude-code", False),
        ("claude-code", True),
        ("codex", False),
    ):
        done = install(host, url=URL, by_http=by_http, folder=folder)
        hooks = settings(done.path)["hooks"]
        for event in ("PreToolUse", "PostToolUse", "Stop"):
            said = hooks[event][0]["hooks"][0]["statusMessage"]
            assert "Checkrail" in said
            assert "reviewer" in said
            assert URL in said
        assert "statusMessage" not in hooks["SessionEnd"][0]["hooks"][0]
