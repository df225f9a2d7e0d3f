"""The hooks of coding agents on this machine: are they whole, do they run, do they hold?"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkrail.cli.doctor_findings import Finding
from checkrail.hooks import locations
from checkrail.hooks.events import EVENTS
from checkrail.hooks.installation import SCOPES, get_settings_path
from checkrail.hooks.settings_files import KEY, BadSettings, get_key, read_document
from checkrail.hooks.settings_hooks import NOT_BY_HTTP, list_gaps, list_hooks

HOST_NAMES = {"claude-code": "Claude Code", "codex": "Codex"}
URL = re.compile(r"https?://[^\s'\"]+?(?=/api/v1/|[\s'\"]|$)")


@dataclass(frozen=True)
class InstalledHooks:
    """Our hooks in one settings file: the handlers by their events."""

    host: str
    path: Path
    handlers: dict[str, dict[str, Any]]

    @property
    def by_http(self) -> bool:
        return any(each.get("type") == "http" for each in self.handlers.values())

    @property
    def commands(self) -> list[str]:
        return [
            str(each["command"]) for each in self.handlers.values() if "command" in each
        ]

    @property
    def url(self) -> str:
        found = URL.search(json.dumps([*self.handlers.values()]))
        return found.group() if found else "an unknown address"


def examine_hooks(folder: Path) -> Iterator[Finding]:
    found = False
    for host, scopes in SCOPES.items():
        for scope in scopes:
            path = get_settings_path(host, scope, folder)
            try:
                document = read_document(path)
            except (BadSettings, OSError) as error:
                yield Finding("wrong", str(error))
                continue
            handlers = {
                event: handler
                for owner, event, handler in list_hooks(document)
                if owner == host
            }
            if handlers:
                found = True
                yield from _examine(InstalledHooks(host, path, handlers), folder)
                yield from _examine_gaps(host, path, document)
            if host == "claude-code":
                yield from _examine_claude_settings(path, document, folder)
    if not found:
        yield Finding("note", "No hooks of Claude Code or Codex are installed here")


def _examine(hooks: InstalledHooks, folder: Path) -> Iterator[Finding]:
    way = "HTTP" if hooks.by_http else "the command hook"
    name = HOST_NAMES[hooks.host]
    again = f"Install them again: checkrail install {hooks.host}"
    yield Finding("ok", f"{name} asks {hooks.url} by {way} ({hooks.path})")
    wanted = set(EVENTS[hooks.host]) - (NOT_BY_HTTP if hooks.by_http else frozenset())
    missing = ", ".join(sorted(wanted - set(hooks.handlers)))
    if missing:
        yield Finding("wrong", f"{hooks.path} has no hook for {missing}", again)
    if hooks.by_http:
        yield Finding(
            "note",
            "HTTP hooks let the agent go on when the server cannot be reached",
            "The command hook does not: checkrail install claude-code",
        )
    if any(" --open" in command for command in hooks.commands):
        yield Finding("note", "--open lets the agent go on without the server", again)
    for program in sorted({_get_program(command) for command in hooks.commands}):
        if shutil.which(program) is None:
            what = f"{program} is not there: {name} can run nothing"
            yield Finding("wrong", what, again)
    if not _has_key(hooks, folder):
        mend = f"checkrail install {hooks.host} --key crk_…, or set {KEY}"
        yield Finding(
            "wrong", "The hooks find no agent key: they hold everything", mend
        )
    if hooks.host == "codex":
        yield from _examine_codex_trust(hooks)
    else:
        yield from _examine_claude_trust(folder)


def _examine_gaps(host: str, path: Path, document: dict[str, Any]) -> Iterator[Finding]:
    for owner, event, words in list_gaps(document):
        if owner == host:
            what = (
                f"{path} leaves calls out at {event} ({words}): nobody is asked there"
            )
            yield Finding("wrong", what, f"Install again: checkrail install {host}")


def _get_program(command: str) -> str:
    try:
        return shlex.split(command)[0]
    except ValueError:  # a quote that does not end: the shell cannot run it either
        return command


def _has_key(hooks: InstalledHooks, folder: Path) -> bool:
    if os.environ.get(KEY):
        return True
    if not hooks.by_http:
        return locations.get_key_file().is_file()
    settings = (
        get_settings_path("claude-code", s, folder) for s in SCOPES["claude-code"]
    )
    return any(_contains_key(path) for path in settings)


def _contains_key(path: Path) -> bool:
    try:
        return get_key(read_document(path)) is not None
    except (BadSettings, OSError):
        return False  # the file is named as wrong by itself


def _examine_claude_settings(
    path: Path, document: dict[str, Any], folder: Path
) -> Iterator[Finding]:
    if document.get("disableAllHooks") is True:
        yield Finding(
            "wrong",
            f"{path} switches all hooks off: nothing is governed",
            "Take disableAllHooks out of it.",
        )
    if not isinstance(document.get("env", {}), dict):
        yield Finding(
            "wrong",
            f"`env` in {path} is no object",
            "Take it out, or make it an object.",
        )
    if folder in path.parents and get_key(document) is not None:
        yield Finding(
            "wrong",
            f"The agent's key lies in {path}, where it could be committed",
            "Take it out there, and give it to checkrail install with --key, which keeps "
            "it elsewhere.",
        )


def _examine_claude_trust(folder: Path) -> Iterator[Finding]:
    """Where a folder is not trusted, Claude Code runs no hooks but with -p."""
    own = os.environ.get("CLAUDE_CONFIG_DIR")
    path = (Path(own) if own else Path.home()) / ".claude.json"
    try:
        projects = read_document(path).get("projects")
    except (BadSettings, OSError) as error:
        yield Finding("wrong", str(error))
        return
    known = projects if isinstance(projects, dict) else {}
    near = (known.get(str(each)) for each in (folder, *folder.parents))
    trusted = any(
        each.get("hasTrustDialogAccepted") for each in near if isinstance(each, dict)
    )
    if not trusted:
        yield Finding(
            "note",
            f"Claude Code does not trust {folder} yet, and runs no hooks before it does",
            "Start claude there once, and say that you trust the folder.",
        )


def _examine_codex_trust(hooks: InstalledHooks) -> Iterator[Finding]:
    """Codex keeps what its user has trusted by the place of each hook and its hash."""
    config = locations.get_codex_folder() / "config.toml"
    text = config.read_text("utf-8", "replace") if config.is_file() else ""
    if re.search(r"^\s*(codex_)?hooks\s*=\s*false", text, re.MULTILINE):
        mend = f"Take it out of {config}."
        yield Finding("wrong", "Codex has its hooks switched off", mend)
    known = re.findall(r'^\[hooks\.state\."(.+)"\]\s*$', text, re.MULTILINE)
    place = f"{hooks.path.resolve()}:"
    events = {
        key[len(place) :].partition(":")[0] for key in known if key.startswith(place)
    }
    unknown = [event for event in hooks.handlers if _to_snake_case(event) not in events]
    if unknown:
        yield Finding(
            "wrong",
            f"Codex does not trust its hooks for {', '.join(sorted(unknown))}: they do "
            "not run, and nothing says so",
            "Start codex and trust them with /hooks. In CI, where nobody can: managed "
            "hooks in requirements.toml, or codex exec --dangerously-bypass-hook-trust",
        )
    else:
        yield Finding(
            "note",
            "Codex was told to trust these hooks; if they were changed since, it runs "
            "them only after you have done so again (/hooks)",
        )


def _to_snake_case(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
