"""Commands that cmd and PowerShell put together before they run them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.limits import TooMuchError

# cmd: `set x=del`, then %x% or !x!.
_SET = re.compile(r"\bset[ \t]+\"?(\w{1,64})=([^&|\"\r\n]*)", re.IGNORECASE)
_USED = re.compile(r"[%!](\w{1,64})(:[^%!\s]{1,40})?[%!]")
# What Windows itself sets, near enough to tell which program is meant.
_USUAL = {"comspec": "cmd", "systemroot": "", "windir": "", "system32": ""}
_MOST_USES = 64
# Methods that delete: of a type, of what a command has found, of an object in a pipe.
METHODS = re.compile(
    r"\]\s*::\s*(?:delete|removedirectory)\w*\s*\("
    r"|\(\s*(?:get|new)-[^()\n]*\)\s*\.\s*delete\w*\s*\("
    r"|\$\w{1,64}(?:\.\w{1,64}){0,6}\.delete\w{0,64}\s*\(\s*(?:\$(?:true|false)\s*)?\)"
    r"|\.delete(?:folder|file)\b\s*[\"'(]",
    re.IGNORECASE,
)
# Methods that leave a file empty.
EMPTYING = re.compile(
    r"\]\s*::\s*writeall\w{1,8}\s*\([^()\n]{1,200},\s*(?:''|\"\"|\$null|\[\w{1,20}\]::empty)"
    r"\s*\)",
    re.IGNORECASE,
)
# A text that is run: of a script block, by the engine, by a new process.
_RUNS = re.compile(
    r"(?:\[scriptblock\]\s*::\s*create|\.invokescript|\.addscript|\.addcommand"
    r"|\.newscriptblock|win32_process['\"]?\]?\)?\s*\.\s*create)\s*\(\s*"
    r"|\bcommandline\s*=\s*(?=['\"])",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"")
# The call operator before something that is only calculated.
_COMPUTED = re.compile(
    r"(?:^|[;|{\n])[ \t]*[&.][ \t]*\([ \t]*(?:['\"$\[]|gcm\b|get-command\b|get-alias\b|gal\b)",
    re.IGNORECASE,
)
_CALLED = re.compile(r"(?:^|[;|{(\n])[ \t]*[&.][ \t]*\$(\w{1,64})\b")
_MADE_UP = re.compile(
    r"\$(\w{1,64})[ \t]*=[ \t]*[^\n;]{0,200}?(?:['\"][ \t]*\+|-f[ \t]|-join\b|-replace\b|\[char\]"
    r"|\bgcm\b|get-command\b)",
    re.IGNORECASE,
)


def expand_variables(text: str) -> str:
    """The text as cmd reads it, with the values that it sets itself."""
    if "%" not in text and "!" not in text:
        return text
    values = {match[1].lower(): match[2].strip() for match in _SET.finditer(text)}
    left = _MOST_USES

    def fill(match: re.Match[str]) -> str:
        nonlocal left
        name = match[1].lower()
        if name not in values and name not in _USUAL:
            return match[0]
        left -= 1
        if left < 0:
            raise TooMuchError(f"more than {_MOST_USES} variables")
        if match[2]:
            # A part of the value: what Windows sets is only where programs stand.
            return "" if name in _USUAL else match[0]
        return values.get(name, _USUAL.get(name, ""))

    return _USED.sub(fill, text)


def list_run_texts(text: str) -> Iterator[tuple[str, int, int]]:
    """Texts that are run, with their place; an empty one where it is not written out."""
    for match in _RUNS.finditer(text):
        literal = _LITERAL.match(text, match.end())
        inner = (literal[1] or literal[2] or "") if literal else ""
        yield inner, match.start(), literal.end() if literal else match.end()


def list_computed_calls(text: str) -> Iterator[tuple[int, int]]:
    """Where a program is called whose name is put together."""
    for match in _COMPUTED.finditer(text):
        yield match.span()
    made_up = {match[1].lower() for match in _MADE_UP.finditer(text)}
    if made_up:
        for match in _CALLED.finditer(text):
            if match[1].lower() in made_up:
                yield match.span()
