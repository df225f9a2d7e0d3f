"""The known programs: their handlers, and the words that make them worth judging."""

from __future__ import annotations

from collections.abc import Mapping

from guidance.core.shell_commands.code import interpreters
from guidance.core.shell_commands.judging.made_again import BUILDERS
from guidance.core.shell_commands.program_names import SAME
from guidance.core.shell_commands.rules import PATTERNS, WINDOWS
from guidance.core.shell_commands.shell.compound import KEYWORDS
from guidance.core.shell_commands.unwrap import (
    escapes,
    git,
    remote,
    searches,
    shells,
    sql_clients,
    state,
    wrappers,
)
from guidance.core.shell_commands.walk import Handler
from guidance.core.shell_commands.windows import shells as windows_shells

HANDLERS: Mapping[str, Handler] = {
    **wrappers.HANDLERS,
    **shells.HANDLERS,
    **state.HANDLERS,
    **searches.HANDLERS,
    **escapes.HANDLERS,
    **remote.HANDLERS,
    **git.HANDLERS,
    **interpreters.HANDLERS,
    **sql_clients.HANDLERS,
    **windows_shells.HANDLERS,
}

# What programs that run others do only after one of these words.
_RUNNING: Mapping[str, frozenset[str]] = {
    "git": git.RUNNING,
    "docker": frozenset(("exec", "run", "create")),
    "podman": frozenset(("exec", "run", "create")),
}


def _list_telling_words(name: str) -> frozenset[str] | None:
    """The words without which nothing can be said about a program; None: always."""
    needed = PATTERNS[name].needed if name in PATTERNS else frozenset[str]()
    if needed is not None and name in BUILDERS:
        needed = needed | BUILDERS[name] if BUILDERS[name] else None
    if name in SAME or needed is None or name in WINDOWS:
        return None
    if name not in HANDLERS:
        return needed
    running = _RUNNING.get(name)
    if HANDLERS[name] is wrappers.unwrap_wrapper:
        verbs = [wrapper.words[:1] for wrapper in wrappers.WRAPPERS[name]]
        if all(verbs) and name not in wrappers.RUNNERS:
            running = frozenset(verb[0] for verb in verbs)
    return None if running is None else needed | running


# Programs that anything can be said about, and the words that are no programs.
MATTERS: Mapping[str, frozenset[str] | None] = {
    **{
        name: _list_telling_words(name)
        for name in (*HANDLERS, *PATTERNS, *SAME, *BUILDERS)
    },
    **dict.fromkeys(KEYWORDS),
}
