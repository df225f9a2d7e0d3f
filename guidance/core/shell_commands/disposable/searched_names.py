"""Which searches find nothing but what tools make again: `find . -name __pycache__ …`.

The whole expression is cut at its ORs. Each alternative must pick by a disposable name, or
be one that only keeps the search out of a folder; anything else finds more than that.
"""

from __future__ import annotations

import re
from itertools import pairwise

from guidance.core.shell_commands.paths import (
    is_cache,
    is_disposable,
    is_generated,
    is_root,
)
from guidance.core.shell_commands.shell.tree import UNKNOWN

_NAMING = ("-name", "-iname", "-path", "-wholename", "-ipath")
_OR = ("-o", "-or")
_NOT = ("!", "-not")
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")
_ACTIONS = ("-delete", *_EXECUTING)
# Ends an alternative that stands in no parentheses.
_OUTERMOST = ""
_OUTPUT = ("dist", "build", "out")
_NEGATING = frozenset(("!", "-not"))
_LOGS = ("log", "logs")
_LOG_NAME = re.compile(r"[\w*.-]*\.(?:log(?:\.[\w.*?\[\]-]*)?|gz|bz2|xz|zst|old)")
_SCRATCH = ("tmp", "temp", ".tmp")
_WIDE = ("/usr", "/opt", "/etc", "/var", "/lib", "/root", "/snap", "/nix", "~/.")


def finds_only_disposable(argv: list[str], names: frozenset[str]) -> bool:
    """Does `find` with these arguments come upon nothing else?"""
    start = next(
        (
            place
            for place, word in enumerate(argv)
            if place and word[:1] in ("-", "(", "!") and word not in ("-L", "-P", "-H")
        ),
        0,
    )
    places = argv[1:start]
    if not start or any(map(_is_far, places)):
        return False
    alternatives: list[list[str]] = [[]]
    depth, place = 0, start
    while place < len(argv):
        word = argv[place]
        place += 1
        if word == "," or (word in _NOT and argv[place : place + 1] == ["("]):
            return False
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word in _OR:
            if depth == 0:
                alternatives[-1].append(_OUTERMOST)
            alternatives.append([])
            continue
        alternatives[-1].append(word)
        if word in _EXECUTING:
            # The words of the command that is run are no tests.
            while place < len(argv) and argv[place] not in (";", "+"):
                place += 1
            place += 1
    if places and all(is_disposable(place, names) for place in places):
        return True
    logs = all(place.rstrip("/").rpartition("/")[2] in _LOGS for place in places)
    scratch = bool(places) and all(place.rstrip("/") in _SCRATCH for place in places)
    output = all(place.rstrip("/").rpartition("/")[2] in _OUTPUT for place in places)
    return all(
        _picks(words, names)
        or (logs and _picks_old_logs(words))
        or (scratch and _picks_old(words))
        or (output and ("-name", "*.map") in pairwise(words[: _find_action(words)]))
        for words in alternatives
    )


def _is_far(place: str) -> bool:
    """Where the folders of a system or a home stand, or nobody knows where."""
    if is_cache(place):
        return False
    return (
        ".." in place or UNKNOWN in place or is_root(place) or place.startswith(_WIDE)
    )


def _picks_old_logs(words: list[str]) -> bool:
    """`find logs -name '*.log' -mtime +7 -delete`."""
    tests = dict(pairwise(words[: _find_action(words)]))
    name = tests.get("-name") or tests.get("-iname") or ""
    return _picks_old(words) and _LOG_NAME.fullmatch(name[:128]) is not None


def _picks_old(words: list[str]) -> bool:
    tests = dict(pairwise(words[: _find_action(words)]))
    age = tests.get("-mtime") or tests.get("-mmin") or ""
    return age[:1] == "+" and not _NEGATING.intersection(words)


def _picks(words: list[str], names: frozenset[str]) -> bool:
    acts = _find_action(words)
    if acts is None and words[-2:] == ["-prune", _OUTERMOST]:
        return True
    return any(
        word in _NAMING
        and (not place or words[place - 1] not in _NOT)
        and _is_made_by_tools(words[place + 1], names)
        for place, word in enumerate(words[: len(words) - 1 if acts is None else acts])
        if place + 1 < len(words)
    )


def _find_action(words: list[str]) -> int | None:
    return next((place for place, word in enumerate(words) if word in _ACTIONS), None)


def _is_made_by_tools(name: str, names: frozenset[str]) -> bool:
    return is_generated(name) or is_disposable(name, names)
