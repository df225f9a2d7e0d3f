"""Which names of a program hold a temporary path, or what tools make again.

A name counts only if everything that it is ever given does: one other value, or a parameter
of the same name, and nothing is known of it any more.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import (
    is_disposable,
    is_temporary,
)

_LONGEST = 32_768
_ROUNDS = 4
# What is made for now, wherever that is.
_MAKES = re.compile(
    r"\b(?:tempfile\.(?:mkdtemp|mkstemp|NamedTemporaryFile|TemporaryDirectory|TemporaryFile)"
    r"|(?:fs\.|fsp\.|promises\.)?mkdtemp(?:Sync)?|os\.(?:MkdirTemp|CreateTemp)"
    r"|ioutil\.Temp(?:Dir|File)|t\.TempDir|b\.TempDir|Dir\.mktmpdir|Tempfile\.(?:new|create)"
    r"|Files\.createTemp\w*|mkdtemp|tmp\.(?:dir|file)Sync|TemporaryDirectory)\s*\("
)
# The folder of temporary ones itself: what is joined to it is below.
_BELOW = re.compile(
    r"(?:join\(\s*|Path\(\s*)?(?:tempfile\.gettempdir\(\)|os\.tmpdir\(\)|tmpdir\(\))\s*\)?\s*"
    r"[,/+]\s*[f]?[\"'`][\w-]"
)
_WRAPPED = re.compile(
    r"\s*(?:await\s+|str\(|(?:pathlib\.)?Path\(|(?:os\.)?path\.join\(|join\(|sorted\(|list\("
    r"|os\.listdir\(|\(|\[|f?[\"'`]\{|f?[\"'`]\$\{)*"
)
_LITERAL = re.compile(r"[rRuUfF]?[\"'`]([^\"'`\n]{1,300})[\"'`]")
_NAME = re.compile(r"(?:self\.|this\.)?[A-Za-z_$][\w$]*")
# Out of the folder, also by a whole path that is joined to it.
_CLIMBS = re.compile(
    r"\.\.(?!\.)|\.parents?\b|dirname|\babspath|resolve\(|[,/+]\s*[rf]?[\"'`]/"
)
# Several things, of which not all may be the same.
_LISTS = re.compile(r"[\[{]|\([^()]*,|(?:list|sorted|set|tuple)\(\s*[\[({]")
_SEARCH = re.compile(r"\.?\br?glob\(\s*[rf]?[\"']([^\"'\n]{1,120})[\"']")
_BINDINGS = re.compile(
    r"\bwith\s+(?P<made>[^\n]{1,300}?)\s+as\s+(?P<held>[A-Za-z_]\w*)\s*[,:]"
    r"|\bfor\s+(?:\(\s*)?(?:const\s+|let\s+|var\s+)?(?P<each>[A-Za-z_$][\w$]*)"
    r"\s+(?:in|of)\s+(?P<all>[^\n{]{1,300})"
    r"|(?P<names>(?:self\.|this\.)?[A-Za-z_$][\w$]*(?:\s*,\s*[A-Za-z_$][\w$]*){0,6})"
    r"\s*(?P<sign>[-+*/|&%]|:)?=(?![=>])\s*(?P<value>[^\n;]{0,300})"
)
_BEGINS = re.compile(r"(?:^|[\n;{])[ \t]*(?:(?:const|let|var)[ \t]+)?\Z")
_PARAMETERS = re.compile(
    r"(?:\bdef\s+\w+|\bfunction\s*\w*|\blambda)\s*\(?([^():\n]{0,300})|\(([^()\n]{0,200})\)\s*=>"
)
# What pytest hands to a test is made for it.
_FIXTURES = frozenset(("tmp_path", "tmpdir", "tmp_path_factory"))


class TemporaryNames:
    def __init__(self, code: str, disposable: frozenset[str]) -> None:
        self._disposable = disposable
        self._known: frozenset[str] = _FIXTURES
        if len(code) > _LONGEST:
            return
        given = _list_given(code)
        for _ in range(_ROUNDS):
            known = self._known | {
                name
                for name, values in given.items()
                if all(map(self.is_temporary, values))
            }
            known -= {
                name
                for name, values in given.items()
                if name in _FIXTURES and not all(map(self.is_temporary, values))
            }
            if known == self._known:
                break
            self._known = known

    def is_temporary(self, expression: str) -> bool:
        """Is it below a temporary folder, or nothing but what tools make again?"""
        expression = expression.strip()
        if _CLIMBS.search(expression) or _LISTS.match(expression):
            return False
        if _MAKES.match(expression) or _BELOW.match(expression):
            return True
        searched = _SEARCH.search(expression)
        if searched is not None and self._is_made_by_tools(searched[1]):
            return True
        rest = expression[_skip_wrapping(expression) :]
        if _MAKES.match(rest) or _BELOW.match(rest):
            return True
        literal = _LITERAL.match(rest)
        if literal is not None:
            return is_temporary(literal[1]) or is_disposable(
                literal[1], self._disposable
            )
        name = _NAME.match(rest)
        return name is not None and name[0] in self._known

    def _is_made_by_tools(self, pattern: str) -> bool:
        last = pattern.rstrip("/*").rpartition("/")[2] or pattern.rpartition("/")[2]
        return last in self._disposable


def _skip_wrapping(expression: str) -> int:
    found = _WRAPPED.match(expression)
    return found.end() if found else 0


def _list_given(code: str) -> dict[str, list[str]]:
    """Each name with all that it is given; an empty text where that is not known."""
    given: dict[str, list[str]] = {}
    for match in _BINDINGS.finditer(code):
        if match["held"]:
            given.setdefault(match["held"], []).append(match["made"])
        elif match["each"]:
            given.setdefault(match["each"], []).append(match["all"])
        else:
            several = "," in match["names"]
            if several and not _BEGINS.search(code[: match.start()][-40:]):
                # An argument by its name, and the one before it.
                continue
            plain = match["sign"] in (None, ":") and (
                not several or _MAKES.match(match["value"])
            )
            for name in match["names"].split(","):
                value = match["value"] if plain else ""
                given.setdefault(name.strip(), []).append(value)
    for match in _PARAMETERS.finditer(code):
        for part in (match[1] or match[2] or "").split(","):
            name = part.partition("=")[0].partition(":")[0].strip(" *")
            if name and name not in _FIXTURES:
                given.setdefault(name, []).append("")
    return given
