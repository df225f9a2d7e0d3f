"""Installing the hooks into a host's settings, and taking them out again."""

from __future__ import annotations

import http.client
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from checkrail.hooks import keys, locations
from checkrail.hooks.events import HOSTS
from checkrail.hooks.records import COMMAND, HTTP
from checkrail.hooks.settings_files import (
    KEY,
    BadSettings,
    Document,
    SettingsFiles,
    read_document,
)
from checkrail.hooks.settings_hooks import HookOptions, add_hooks, remove_hooks

SCOPES = {"claude-code": ("local", "project", "user"), "codex": ("user", "project")}
CHECK_SECONDS = 3.0


@dataclass
class Installed:
    """What was done: the file, the copy of what was there before, and words for it."""

    path: Path
    changed: bool
    backup: Path | None = None
    notes: list[str] = field(default_factory=list)


def install(
    host: str,
    *,
    url: str | None = None,
    key: str | None = None,
    scope: str | None = None,
    by_http: bool = False,
    headless: bool = False,
    wait_s: int | None = None,
    on_allow: str | None = None,
    policy: str | None = None,
    open: bool = False,
    uninstall: bool = False,
    folder: Path | None = None,
) -> Installed:
    """Puts the hooks into the settings of this project or user; again changes nothing."""
    scope = _check_scope(host, scope)
    if by_http and host == "codex":
        raise BadSettings("Codex has no HTTP hooks: install the command hook.")
    if wait_s is not None and not 1 <= wait_s <= 3_600:
        raise BadSettings("--wait-s takes 1 to 3600 seconds.")
    folder = folder or Path.cwd()
    path = get_settings_path(host, scope, folder)
    settings = SettingsFiles()
    if uninstall:
        return _uninstall(host, path, folder, settings)
    before = read_document(path)
    if key and by_http:
        keys.refuse_to_replace(key)
    wanted = HookOptions(
        host=host,
        url=locations.get_url(url),
        by_http=by_http,
        shared=scope == "project",
        headless=headless,
        wait_s=wait_s,
        on_allow=on_allow,
        policy=policy,
        open=open,
    )
    changed = _write(path, before, add_hooks(before, wanted), settings)
    way = HTTP if by_http else COMMAND
    keys.record_hooks(path, way=way)
    notes = [keys.keep_key(key, way=way, settings=settings)] if key else []
    notes += keys.remove_unused_keys(settings, say_kept=False)
    notes += _list_hints(wanted, key_given=bool(key))
    return Installed(path, changed, settings.get_copy(path), notes)


def _uninstall(
    host: str, path: Path, folder: Path, settings: SettingsFiles
) -> Installed:
    before = read_document(path)
    changed = _write(path, before, remove_hooks(before, host), settings)
    keys.forget_hooks(path)
    notes = keys.remove_local_key(folder, settings)
    notes += keys.remove_unused_keys(settings, say_kept=True)
    notes += keys.list_other_keys(folder)
    return Installed(path, changed, settings.get_copy(path), notes)


def _check_scope(host: str, scope: str | None) -> str:
    if host not in HOSTS:
        raise BadSettings(f"{host} is not known: {' or '.join(HOSTS)}.")
    scope = scope or SCOPES[host][0]
    if scope not in SCOPES[host]:
        raise BadSettings(f"{host} takes --scope {' or '.join(SCOPES[host])}.")
    return scope


def get_settings_path(host: str, scope: str, folder: Path) -> Path:
    if host == "codex":
        own = locations.get_codex_folder() if scope == "user" else folder / ".codex"
        return own / "hooks.json"
    if scope == "user":
        return locations.get_claude_settings()
    name = "settings.json" if scope == "project" else "settings.local.json"
    return folder / ".claude" / name


def _write(
    path: Path, before: Document, after: Document, settings: SettingsFiles
) -> bool:
    if before != after:
        settings.write(path, after)
    return before != after


def _list_hints(wanted: HookOptions, *, key_given: bool) -> list[str]:
    hints = []
    if not key_given:
        hints.append(f"Set {KEY} to the agent's key where {wanted.host} is started.")
    if wanted.by_http:
        hints.append(
            "HTTP hooks let the agent go on when the server cannot be reached; the "
            "command hook does not."
        )
    if wanted.host == "codex":
        hints.append(
            "Start codex and trust the new hooks with /hooks: until then they "
            "do not run."
        )
    else:
        hints.append("See them with /hooks in a new session.")
    return hints


def check_connection(url: str, key: str) -> str:
    """In one sentence: does the server answer, and does it know the key?"""
    target = urlsplit(url)
    secure = target.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    link = kind(target.hostname or "", target.port, timeout=CHECK_SECONDS)
    try:
        link.request(
            "GET",
            f"{target.path.rstrip('/')}/api/v1/runs?limit=1",
            headers={"Authorization": f"Bearer {key}"},
        )
        status = link.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"The server at {url} cannot be reached just now: {error}"
    finally:
        link.close()
    if status == 200:
        return f"The server at {url} answers and knows the key."
    if status in {401, 403}:
        return f"The server at {url} does not know this key: make one with agent_key."
    return f"{url} answered {status}: is it the address of Checkrail?"


def main(argv: Sequence[str]) -> int:
    """`checkrail install claude-code|codex`."""
    options = build_parser().parse_args(argv)
    given = vars(options)
    given.pop("command")
    try:
        done = install(given.pop("host"), **given)
    except (BadSettings, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    say = sys.stdout.write
    what = "Removed the hooks from" if options.uninstall else "Installed the hooks in"
    say(f"{what if done.changed else 'Nothing to change in'} {done.path}\n")
    if done.backup:
        say(f"What was there before: {done.backup}\n")
    for note in done.notes:
        say(f"- {note}\n")
    if options.key and not options.uninstall:
        say(f"- {check_connection(locations.get_url(options.url), options.key)}\n")
    return 0


def build_parser() -> ArgumentParser:
    parser = ArgumentParser(prog="checkrail install")
    add = parser.add_argument
    add("host", choices=HOSTS)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--command", action="store_true", help="a program; the default")
    way.add_argument("--http", dest="by_http", action="store_true", help="plain HTTP")
    add("--scope", choices=["local", "project", "user"])
    add("--url", help=f"the server; else CHECKRAIL_URL or {locations.DEFAULT_URL}")
    add("--key", help="the agent's key, kept for you alone")
    add("--headless", action="store_true", help="nobody sits at the terminal")
    add("--wait-s", type=int, help="hold a call for so many seconds; 570")
    add("--on-allow", choices=["none", "allow"], help="allow: do not ask the user too")
    add("--policy", help="by which runs that begin are judged")
    add("--open", action="store_true", help="not advised: go on when it is unreachable")
    add("--uninstall", action="store_true", help="take our hooks out again")
    return parser
