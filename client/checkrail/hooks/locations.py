"""Where the hook finds its server and key, and keeps how far it has read."""

from __future__ import annotations

import os
from pathlib import Path

from checkrail.hooks.sending import NoAnswer

DEFAULT_URL = "http://127.0.0.1:8000"


def url(given: str | None) -> str:
    return (given or os.environ.get("CHECKRAIL_URL") or DEFAULT_URL).rstrip("/")


def key() -> str:
    """CHECKRAIL_KEY, or what the installation has kept for this user alone."""
    found = os.environ.get("CHECKRAIL_KEY", "").strip()
    if not found and key_file().is_file():
        found = key_file().read_text(encoding="utf-8").strip()
    if not found:
        raise NoAnswer(
            "there is no key. Set CHECKRAIL_KEY, or install the hooks with --key."
        )
    return found


def key_file() -> Path:
    return _folder("XDG_CONFIG_HOME", ".config") / "hook.key"


def installed_file() -> Path:
    """Which settings hold our hooks."""
    return _folder("XDG_CONFIG_HOME", ".config") / "installed.json"


def claude_settings() -> Path:
    """The settings of Claude Code for this user, in whatever project."""
    own = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(own) if own else Path.home() / ".claude") / "settings.json"


def codex_folder() -> Path:
    own = os.environ.get("CODEX_HOME")
    return Path(own) if own else Path.home() / ".codex"


def copies_folder() -> Path:
    """Settings as they were before they were changed."""
    return _folder("XDG_STATE_HOME", ".local/state") / "copies"


def state_folder() -> Path:
    return _folder("XDG_STATE_HOME", ".local/state") / "hooks"


def _folder(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / fallback) / "checkrail"
