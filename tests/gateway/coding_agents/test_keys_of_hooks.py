"""Where an installation keeps the agent's key, and that nothing of it is left behind."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from checkrail.hooks import install
from checkrail.hooks.settings_files import BadSettings

from tests.gateway.coding_agents.test_installing import URL, folder, settings

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


def test_a_key_of_ours_in_a_projects_own_settings_is_taken_out(folder: Path) -> None:
    """Earlier versions kept it there."""
    local = folder / ".claude" / "settings.local.json"
    more: dict[str, Any] = {"scope": "project", "folder": folder}
    local.write_text(json.dumps({"env": {"CHECKRAIL_KEY": KEY, "OTHER": "1"}}))
    install("claude-code", url=URL, key=KEY, by_http=True, **more)
    assert local in holding(folder), "nothing is deleted by installing"
    install("claude-code", uninstall=True, **more)
    assert settings(local) == {"env": {"OTHER": "1"}}
    assert holding(Path.home()) == []


@pytest.mark.parametrize("by_http", [False, True], ids=["command", "http"])
@pytest.mark.parametrize("key", [None, KEY, "crk_another"])
def test_a_key_that_the_user_has_set_stays(
    folder: Path, by_http: bool, key: str | None
) -> None:
    document = {"env": {"CHECKRAIL_KEY": KEY, "OTHER": "1"}}
    own = Path.home() / ".claude" / "settings.json"
    local = folder / ".claude" / "settings.local.json"
    if by_http and key == "crk_another":
        own.parent.mkdir(parents=True)
        own.write_text(json.dumps(document))
        with pytest.raises(BadSettings, match="leave --key out"):
            install("claude-code", url=URL, by_http=True, key=key, folder=folder)
        assert not local.exists(), "nothing was changed"
        assert settings(own) == document
        return
    for path in (own, local):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
    for again in (False, True):
        install("claude-code", url=URL, by_http=by_http, key=key, folder=folder)
        for path in (own, local):
            assert settings(path)["env"] == document["env"], again
    done = install("claude-code", uninstall=True, folder=folder)
    assert settings(own) == document
    assert any(str(own) in note and "stays" in note for note in done.notes)
    if by_http or key != KEY:
        assert settings(local) == document


def test_a_key_that_was_changed_by_hand_stays(folder: Path) -> None:
    install("claude-code", url=URL, by_http=True, key=KEY, folder=folder)
    own = Path.home() / ".claude" / "settings.json"
    own.write_text(json.dumps({"env": {"CHECKRAIL_KEY": "crk_by_hand"}}))
    install("claude-code", uninstall=True, folder=folder)
    assert settings(own) == {"env": {"CHECKRAIL_KEY": "crk_by_hand"}}


def test_the_key_of_an_installation_that_noted_nothing_is_in_use(folder: Path) -> None:
    kept = Path.home() / ".config" / "checkrail" / "hook.key"
    kept.parent.mkdir(parents=True)
    kept.write_text(f"{KEY}\n")
    for _ in range(2):
        install("claude-code", url=URL, by_http=True, key=KEY, folder=folder)
        assert kept.exists()
    done = install("claude-code", uninstall=True, folder=folder)
    assert kept.exists()
    assert any(str(kept) in note and "stays" in note for note in done.notes)
    # Neither does one go that was installed over it: others may read it.
    install("claude-code", url=URL, key=KEY, folder=folder)
    install("claude-code", uninstall=True, folder=folder)
    assert kept.exists()


def test_notes_of_the_first_format_are_understood(folder: Path) -> None:
    done = install("claude-code", url=URL, key=KEY, folder=folder)
    config = Path.home() / ".config" / "checkrail"
    noted = config / "installed.json"
    noted.write_text(json.dumps({str(done.path.resolve()): "command"}))
    install("codex", url=URL, folder=folder)
    install("claude-code", uninstall=True, folder=folder)
    assert (config / "hook.key").exists()
    install("codex", uninstall=True, folder=folder)
    assert [*config.iterdir()] == []


def test_settings_that_cannot_take_a_key_are_not_touched(folder: Path) -> None:
    own = Path.home() / ".claude" / "settings.json"
    own.parent.mkdir(parents=True)
    for environment in ("null", "[]", '"x"'):
        own.write_text(f'{{"env": {environment}}}')
        with pytest.raises(BadSettings, match="mend it"):
            install("claude-code", url=URL, by_http=True, key=KEY, folder=folder)
        assert not (folder / ".claude" / "settings.local.json").exists()


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
