"""Which paths a call names, and whether all of them are below those of a step.

Only texts are compared: no folder is looked at. A call whose paths cannot be told for
certain is below nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from guidance.core.tools.calls import Call, CommandCall, ToolCall

# What a shell makes something else of, or more than one command.
_NOT_SIMPLE = re.compile(r"[;&|<>$`(){}!#\\'\"\x00-\x08\x0a-\x1f\x7f]")
_GLOB = re.compile(r"[*?\[\]]")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_HAVE_SUBCOMMANDS = frozenset({"git"})
_PATH_NAME = re.compile(r"path|file|dir|folder|cwd", re.IGNORECASE)
_COMMAND_NAMES = frozenset({"command", "cmd", "script"})
_ROOTED = ("/", "~", "./", "../")

# Where it begins, empty for the working folder, and the names below.
Place = tuple[str, tuple[str, ...]]


class UnclearPaths(Exception):
    """Nobody can tell from the text which paths a call names."""


def find_path_problem(path: str) -> str | None:
    """Why a step cannot be bound to this path."""
    place = _parse_place(path)
    if place is None:
        return "a path without .. that climbs out, patterns, quotes or variables"
    root, names = place
    if root and not names:
        return "a whole disk or home is no place for a plan"
    return None


def normalise_path(path: str) -> str:
    """As it is shown: `build/./out/` is `build/out`."""
    place = _parse_place(path)
    if place is None:
        return path
    root, names = place
    if not root:
        return "/".join(names) or "."
    return root + "/".join(names) if root == "/" else "/".join((root, *names))


def are_paths_below(call: Call, paths: Iterable[str]) -> bool:
    """Whether every path that the call names is below one of these."""
    allowed = [place for path in paths if (place := _parse_place(path)) is not None]
    try:
        named = list(_list_named(call))
    except UnclearPaths:
        return False
    return all(_is_below(_parse_place(path, glob=True), allowed) for path in named)


def _is_below(place: Place | None, allowed: Iterable[Place]) -> bool:
    if place is None:
        return False
    root, names = place
    return any(
        root == above and names[: len(prefix)] == prefix for above, prefix in allowed
    )


def _parse_place(path: str, *, glob: bool = False) -> Place | None:
    """None where it climbs out of where it begins, or is more than a plain path."""
    if not path or _NOT_SIMPLE.search(path) or (not glob and _GLOB.search(path)):
        return None
    root, rest = "", path
    if path.startswith("/"):
        root, rest = "/", path[1:]
    elif path.startswith("~"):
        root, _, rest = path.partition("/")
    names: list[str] = []
    for name in rest.split("/"):
        if name in ("", "."):
            continue
        if name.startswith(".") and _GLOB.search(name):
            return None  # in some shells .* is the folder above, too
        if name != "..":
            names.append(name)
        elif not names or any(map(_GLOB.search, names)):
            return None
        else:
            names.pop()
    return root, tuple(names)


def _list_named(call: Call) -> Iterator[str]:
    if isinstance(call, CommandCall):
        yield from _list_in_command(call.command)
        for name, value in (call.arguments or {}).items():
            if name != "command":
                yield from _list_in_argument(name, value)
    elif isinstance(call, ToolCall):
        if call.arguments_json is not None:
            raise UnclearPaths
        for name, value in call.arguments.items():
            yield from _list_in_argument(name, value)
    else:
        yield call.file_path


def _list_in_command(command: str) -> Iterator[str]:
    """Every word but the program, options and bare numbers: any of them may be a path."""
    words = command.split()
    if _NOT_SIMPLE.search(command) or not words or "=" in words[0]:
        raise UnclearPaths
    for place, word in enumerate(words):
        named = place == 1 and words[0] in _HAVE_SUBCOMMANDS
        if place == 0 or word.isdigit() or (named and _SUBCOMMAND.fullmatch(word)):
            continue
        if not word.startswith("-"):
            yield word
        elif "/" in word or ".." in word or "~" in word:
            _, sign, value = word.partition("=")
            if not sign:
                raise UnclearPaths  # as in -C/etc
            yield value


def _list_in_argument(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _list_in_argument(str(key), part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _list_in_argument(name, part)
    elif not isinstance(value, str):
        return
    elif name.casefold() in _COMMAND_NAMES:
        yield from _list_in_command(value)
    elif _PATH_NAME.search(name) or _looks_like_path(value):
        yield value


def _looks_like_path(text: str) -> bool:
    if text == ".." or text.startswith(_ROOTED) or "/../" in text or "\\" in text:
        return True
    return "/" in text and not any(map(str.isspace, text))
