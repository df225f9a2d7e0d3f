"""Our hooks among the others in a host's settings: put in, found again, taken out."""

from __future__ import annotations

import copy
import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from checkrail.hooks.events import (
    BLOCKING,
    EVENTS,
    HOSTS,
    WAIT_SECONDS,
    WAIT_SECONDS_AT,
)
from checkrail.hooks.settings_files import KEY, BadSettings, Document

# What the host waits longer than we hold.
MARGIN_SECONDS = 30
# Matchers that leave nothing out.
EVERY_TOOL = (None, "", "*", ".*")
# With these the host goes on before the hook has answered.
NOT_WAITED_FOR = ("async", "asyncRewake")
# Claude Code sends no HTTP hooks for it; the first prompt begins the run anyway.
NOT_BY_HTTP = frozenset({"SessionStart"})
# What the host shows while an event is held.
STATUS = {
    "PreToolUse": "Checkrail judges the call",
    "PermissionRequest": "Checkrail judges the call",
    "PostToolUse": "Checkrail judges the step",
    "PostToolUseFailure": "Checkrail judges the step",
    "Stop": "Checkrail judges the turn",
    "SubagentStop": "Checkrail judges the turn",
}


@dataclass(frozen=True)
class HookOptions:
    """What is to be installed; `shared` files must suit every member of a team."""

    host: str
    url: str
    by_http: bool = False
    shared: bool = False
    headless: bool = False
    wait_s: int | None = None
    on_allow: str | None = None
    policy: str | None = None
    open: bool = False

    @property
    def events(self) -> tuple[str, ...]:
        every = EVENTS[self.host]
        if self.by_http:
            return tuple(event for event in every if event not in NOT_BY_HTTP)
        return every


def add_hooks(document: Document, wanted: HookOptions) -> Document:
    """The settings with our hooks, once, and everything else as it was."""
    changed = remove_hooks(document, wanted.host)
    hooks = changed.setdefault("hooks", {})
    for event in wanted.events:
        handler = (
            _build_http_hook(wanted, event)
            if wanted.by_http
            else _build_command_hook(wanted, event)
        )
        hooks.setdefault(event, []).append({"hooks": [handler]})
    return changed


def remove_hooks(document: Document, host: str) -> Document:
    changed = copy.deepcopy(document)
    hooks = changed.get("hooks")
    if hooks is None:
        return changed
    if not isinstance(hooks, dict):
        raise BadSettings("`hooks` in the settings is no object: mend it first.")
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list):
            raise BadSettings(f"`hooks.{event}` is no list: mend it first.")
        kept = [
            left for group in groups if (left := _remove_ours(group, host)) is not None
        ]
        if kept or not groups:
            hooks[event] = kept
        else:
            del hooks[event]
    if not hooks and document["hooks"]:
        del changed["hooks"]
    return changed


def list_hooks(document: Document) -> Iterator[tuple[str, str, Document]]:
    """Host, event and handler of every hook of ours."""
    for host, event, _, handler in _list_grouped_hooks(document):
        yield host, event, handler


def list_gaps(document: Document) -> Iterator[tuple[str, str, str]]:
    """Host, event and words of the settings, where no hook of ours sees all of an event."""
    narrowed: dict[tuple[str, str], str] = {}
    whole = set()
    for host, event, group, handler in _list_grouped_hooks(document):
        words = _describe_narrowing(group, handler)
        if words:
            narrowed[host, event] = words
        else:
            whole.add((host, event))
    for place, words in narrowed.items():
        if place not in whole:
            yield *place, words


def _describe_narrowing(group: Document, handler: Document) -> str:
    if group.get("matcher") not in EVERY_TOOL:
        return f"matcher {json.dumps(group['matcher'])}"
    if handler.get("if"):
        return f"if {json.dumps(handler['if'])}"
    return next((name for name in NOT_WAITED_FOR if handler.get(name)), "")


def _list_grouped_hooks(
    document: Document,
) -> Iterator[tuple[str, str, Document, Document]]:
    hooks = document.get("hooks")
    for event, groups in (hooks if isinstance(hooks, dict) else {}).items():
        for group in groups if isinstance(groups, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for handler in handlers if isinstance(handlers, list) else ():
                for host in HOSTS:
                    if _is_ours(handler, host):
                        yield host, event, group, handler


def has_hooks(document: Document) -> bool:
    return any(True for _ in list_hooks(document))


def _remove_ours(group: Any, host: str) -> Any:
    """The group without what is ours; None where nothing is left of it."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    kept = [handler for handler in group["hooks"] if not _is_ours(handler, host)]
    if not kept and group["hooks"]:
        return None
    return {**group, "hooks": kept}


def _is_ours(handler: Any, host: str) -> bool:
    if not isinstance(handler, dict):
        return False
    command, url = str(handler.get("command", "")), str(handler.get("url", ""))
    return (
        f"checkrail hook {host} " in command
        or f"-m checkrail.hooks {host} " in command
        or f"/api/v1/hooks/{host}/" in url
    )


def _build_command_hook(wanted: HookOptions, event: str) -> Document:
    words = [wanted.host, event, "--url", wanted.url]
    for name in ("wait_s", "on_allow", "policy"):
        value = getattr(wanted, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    words += ["--headless"] * wanted.headless + ["--open"] * wanted.open
    # For a team by its name; for one person by its place, which needs no PATH.
    program = "checkrail hook"
    if not wanted.shared:
        program = f"{shlex.quote(sys.executable)} -m checkrail.hooks"
    command = f"{program} {shlex.join(words)}"
    if event in BLOCKING and not wanted.open:
        command += " || exit 2"  # also where the program itself is gone
    return {
        "type": "command",
        "command": command,
        "timeout": _get_timeout(wanted, event),
        **_build_status(wanted, event),
    }


def _build_status(wanted: HookOptions, event: str) -> Document:
    """A word for whoever sits there and wonders what takes so long."""
    if event not in STATUS:
        return {}
    where = f"if this takes long, a reviewer is asked at {wanted.url}"
    return {"statusMessage": f"{STATUS[event]}; {where}"}


def _build_http_hook(wanted: HookOptions, event: str) -> Document:
    query = {"wait_s": str(_get_wait(wanted, event))}
    if wanted.headless:
        query["headless"] = "true"
    for name in ("on_allow", "policy"):
        value = getattr(wanted, name)
        if value is not None:
            query[name] = value
    path = f"/api/v1/hooks/{wanted.host}/{event}?{urlencode(query)}"
    return {
        "type": "http",
        "url": wanted.url.rstrip("/") + path,
        "headers": {"Authorization": f"Bearer ${KEY}"},
        "allowedEnvVars": [KEY],
        "timeout": _get_timeout(wanted, event),
        **_build_status(wanted, event),
    }


def _get_wait(wanted: HookOptions, event: str) -> int:
    if event in WAIT_SECONDS_AT:
        return max(1, int(WAIT_SECONDS_AT[event]))
    return wanted.wait_s or int(WAIT_SECONDS)


def _get_timeout(wanted: HookOptions, event: str) -> int:
    if event in WAIT_SECONDS_AT:
        return int(WAIT_SECONDS_AT[event]) + 2  # Codex gives the last one three seconds
    return _get_wait(wanted, event) + MARGIN_SECONDS
