"""The server's address, the key, and the files that the hooks use."""

from __future__ import annotations

import os
from pathlib import Path

from checkrail.hooks.sending import NoAnswer

DEFAULT_URL = "http://127.0.0.1:8000"


def get_url(given: str | None) -> str:
    return (given or os.environ.get("CHECKRAIL_URL") or DEFAULT_URL).rstrip("/")


def get_key() -> str:
    """CHECKRAIL_KEY, or what the installation has kept for this user alone."""
    found = os.environ.get("CHECKRAIL_KEY", "").strip()
    if not found and get_key_file().is_file():
        found = get_key_file().read_text(encoding="utf-8").strip()
    if not found:
        raise NoAnswer(
            "there is no key. Set CHECKRAIL_KEY, or install the hooks with --key."
        )
    return found


def get_key_file() -> Path:
    return _get_folder("XDG_CONFIG_HOME", ".config") / "hook.key"


def get_records_file() -> Path:
    """Which settings hold our hooks."""
    return _get_folder("XDG_CONFIG_HOME", ".config") / "installed.json"


def get_claude_settings() -> Path:
    """The settings of Claude Code for this user, in whatever project."""
    own = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(own) if own else Path.home() / ".claude") / "settings.json"


def get_codex_folder() -> Path:
    own = os.environ.get("CODEX_HOME")
    return Path(own) if own else Path.home() / ".codex"


def get_copies_folder() -> Path:
    """Settings as they were before they were changed."""
    return _get_folder("XDG_STATE_HOME", ".local/state") / "copies"


def get_state_folder() -> Path:
    return _get_folder("XDG_STATE_HOME", ".local/state") / "hooks"


def _get_folder(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / fallback) / "checkrail"
