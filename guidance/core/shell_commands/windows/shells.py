"""cmd and PowerShell as programs, and PowerShell's own ways to run a text."""

from __future__ import annotations

import re

from guidance.core.regex import byte_pattern
from guidance.core.shell_commands.call import Call
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.outputs import DOWNLOADERS
from guidance.core.shell_commands.program_names import canonical
from guidance.core.shell_commands.shell.tree import UNKNOWN, Script, Simple
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.windows.reader import commands

# A text that holds one of these is worth reading as PowerShell or cmd as well.
_SMELLS = (
    "remove-",
    "clear-",
    "format-volume",
    "-computer",
    "invoke-",
    "iex",
    "::delete",
    "del ",
    "rd ",
    "erase ",
    "ri ",
)
# The same for a text in ASCII.
SMELLS = byte_pattern(
    "|".join(re.sub(" $", "(?: |$)", smell) for smell in _SMELLS), ignore_case=True
)
_METHODS = re.compile(r"(?:::|\)\.)delete\s*\(", re.IGNORECASE)
_EVALUATING = frozenset(("iex", "invoke-expression"))
_ENCODED = re.compile(r"-e(?:nc?|ncodedcommand)?\Z", re.IGNORECASE)
_COMMAND = re.compile(r"-c(?:o(?:m(?:m(?:a(?:nd?)?)?)?)?)?\Z", re.IGNORECASE)
_TAKING = ("-executionpolicy", "-ep", "-ex", "-exec", "-w", "-windowstyle", "-version")


def smells(text: str) -> bool:
    """Could it be meant for a Windows shell?"""
    lower = text.lower() + " "
    return any(smell in lower for smell in _SMELLS)


def windows(walk: Walk, text: str, *, origin: Origin, via: tuple[str, ...]) -> None:
    """Judge a text as a Windows shell would cut it."""
    walk.enter(text)
    script = Script(text, origin, [])
    fetching = "downloadstring" in text.lower()
    downloaded = False
    for match in _METHODS.finditer(text):
        walk.report.at("windows-remove", origin.span(*match.span()), via=via)
    for words, piped in commands(text, walk.budget):
        walk.budget.command()
        argv = [word for word, _, _ in words]
        name = canonical(argv[0])
        simple = Simple([*argv], words[0][1])
        simple.end = words[-1][2]
        call = Call(name, argv, script, simple, via, -1)
        call.more = None if piped else ()
        if name in _EVALUATING:
            _expression(walk, call, downloaded=downloaded)
        else:
            walk.run(call)
        downloaded = downloaded or fetching or name in DOWNLOADERS
    walk.leave()


def _expression(walk: Walk, call: Call, *, downloaded: bool) -> None:
    text = " ".join(call.argv[1:])
    if downloaded:
        walk.report.opaque("opaque-download", call)
    elif not text or "$" in text or UNKNOWN in text:
        walk.report.opaque("opaque-script", call)
    else:
        windows(walk, text, origin=walk.whole(call), via=(*call.via, call.name))


def command_prompt(walk: Walk, call: Call) -> None:
    """cmd /c text: quotes around the whole are cmd's, the rest is joined."""
    for index, word in enumerate(call.argv):
        if word.lower() in ("/c", "/k", "//c", "//k") and index + 1 < len(call.argv):
            rest = call.argv[index + 1 :]
            origin = walk.whole(call, index=index + 1)
            if len(rest) == 1:
                origin = walk.origin(call, index + 1)
            windows(walk, " ".join(rest), origin=origin, via=(*call.via, "cmd /c"))
            return
    content = walk.stdin(call)
    if content is not None:
        walk.content(content, call, "cmd")


def powershell(walk: Walk, call: Call) -> None:
    argv = call.argv
    index = 1
    while index < len(argv):
        word = argv[index]
        if _ENCODED.match(word):
            walk.report.opaque("opaque-decoded", call)
            return
        if word.lower() in ("-file", "-f"):
            return
        if _COMMAND.match(word):
            index += 1
            break
        if word[:1] != "-":
            break
        index += 2 if word.lower() in _TAKING else 1
    rest = argv[index:]
    if not rest or rest == ["-"]:
        content = walk.stdin(call)
        if content is not None and content.opaque:
            walk.content(content, call, "powershell")
        elif content is not None:
            origin = content.origin or walk.whole(call)
            windows(walk, content.text, origin=origin, via=(*call.via, "powershell"))
        return
    text = " ".join(rest)
    if text.strip(UNKNOWN) == "":
        walk.report.opaque("opaque-script", call)
        return
    origin = (
        walk.origin(call, index) if len(rest) == 1 else walk.whole(call, index=index)
    )
    windows(walk, text, origin=origin, via=(*call.via, "powershell"))


def for_files(walk: Walk, call: Call) -> None:
    """forfiles /c "cmd /c del @file"."""
    for index, word in enumerate(call.argv[:-1]):
        if word.lower() == "/c":
            text = call.argv[index + 1]
            origin = walk.origin(call, index + 1)
            windows(walk, text, origin=origin, via=(*call.via, "forfiles"))


HANDLERS: dict[str, Handler] = {
    "cmd": command_prompt,
    "powershell": powershell,
    "forfiles": for_files,
    "iex": lambda walk, call: _expression(walk, call, downloaded=False),
    "invoke-expression": lambda walk, call: _expression(walk, call, downloaded=False),
}
