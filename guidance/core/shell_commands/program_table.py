"""The known programs: their handlers, and the words that make them worth judging."""

from __future__ import annotations

from collections.abc import Mapping

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code import interpreters
from guidance.core.shell_commands.families import environment
from guidance.core.shell_commands.families.inspect import (
    FOLLOWED,
    GUARD_JUDGES,
    JUDGES,
    SENSITIVE_JUDGES,
    inspect_call,
)
from guidance.core.shell_commands.program_names import SAME
from guidance.core.shell_commands.rules import FAMILY_PATTERNS, PATTERNS, WINDOWS
from guidance.core.shell_commands.shell.compound import KEYWORDS
from guidance.core.shell_commands.unwrap import (
    editors,
    escapes,
    git,
    recipes,
    redirections,
    remote,
    searches,
    sessions,
    shells,
    sql_clients,
    state,
    transfers,
    wrappers,
)
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.windows import shells as windows_shells

_UNWRAPPING: Mapping[str, Handler] = {
    **wrappers.HANDLERS,
    **shells.HANDLERS,
    **sessions.HANDLERS,
    **state.HANDLERS,
    **searches.HANDLERS,
    **escapes.HANDLERS,
    **editors.HANDLERS,
    **recipes.HANDLERS,
    **redirections.HANDLERS,
    **transfers.HANDLERS,
    **remote.HANDLERS,
    **git.HANDLERS,
    **interpreters.HANDLERS,
    **sql_clients.HANDLERS,
    **windows_shells.HANDLERS,
    "bun": wrappers.unwrap_bun,
}


def _add_judges(judges: Mapping[str, tuple[Handler, ...]]) -> dict[str, Handler]:
    return {
        **_UNWRAPPING,
        **{
            name: _inspect_then(asked, _UNWRAPPING.get(name))
            for name, asked in judges.items()
        },
    }


def _inspect_then(judges: tuple[Handler, ...], follow: Handler | None) -> Handler:
    """The families have their say, then the call is unwrapped or judged as ever."""

    def handle(walk: Walk, call: ProgramCall) -> None:
        inspect_call(walk, call, judges)
        if follow is not None:
            follow(walk, call)
        else:
            walk.judge(call)

    return handle


HANDLERS: Mapping[str, Handler] = _add_judges(JUDGES)
# The same for a text that may name something sensitive.
SENSITIVE_HANDLERS: Mapping[str, Handler] = _add_judges(SENSITIVE_JUDGES)
# And for one that may be about the guard itself.
GUARD_HANDLERS: Mapping[str, Handler] = _add_judges(GUARD_JUDGES)

# What programs that run others do only after one of these words.
_RUNNING: Mapping[str, frozenset[str]] = {
    "git": git.RUNNING | {"clone", "remote"},
    "gh": frozenset(("alias",)),
    "docker": frozenset(("exec", "run", "create", "build", "tag")),
    "podman": frozenset(("exec", "run", "create", "build", "tag", "unshare")),
}


def _list_telling_words(name: str) -> frozenset[str] | None:
    """The words without which nothing can be said about a program; None: always."""
    needed: frozenset[str] = frozenset()
    for table in (PATTERNS, FAMILY_PATTERNS):
        words = table[name].needed if name in table else frozenset[str]()
        if words is None:
            return None
        needed |= words
    if name in SAME or name in WINDOWS:
        return None
    if name not in _UNWRAPPING:
        return needed
    running = _RUNNING.get(name)
    if (
        _UNWRAPPING[name] is wrappers.unwrap_wrapper
        and name not in wrappers.PACKAGE_RUNNERS
    ):
        verbs = [wrapper.words[:1] for wrapper in wrappers.WRAPPERS[name]]
        if all(verbs) and name not in wrappers.RUNNERS:
            running = frozenset(verb[0] for verb in verbs)
    return None if running is None else needed | running


# Programs that anything can be said about, and the words that are no programs.
MATTERS: Mapping[str, frozenset[str] | None] = {
    **{
        name: _list_telling_words(name)
        for name in (*_UNWRAPPING, *PATTERNS, *FAMILY_PATTERNS, *SAME)
    },
    **dict.fromkeys(KEYWORDS),
    **dict.fromkeys(FOLLOWED - _RUNNING.keys()),
    # In every other script, and seldom of the environment (bench: "a chain").
    "ls": environment.DRIVES,
}
SENSITIVE_MATTERS: Mapping[str, frozenset[str] | None] = {
    **MATTERS,
    **dict.fromkeys(SENSITIVE_JUDGES),
}
GUARD_MATTERS: Mapping[str, frozenset[str] | None] = {
    **MATTERS,
    **dict.fromkeys(GUARD_JUDGES),
}
