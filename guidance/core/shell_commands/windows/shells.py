"""cmd and PowerShell as programs, and PowerShell's own ways to run a text."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.made_again import list_built
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.outputs import DOWNLOADERS
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.rules import WINDOWS
from guidance.core.shell_commands.rules.invocation import sort_arguments
from guidance.core.shell_commands.shell.tree import UNKNOWN, Script, Simple
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.windows.composition import (
    EMPTYING,
    METHODS,
    expand_variables,
    list_computed_calls,
    list_run_texts,
)
from guidance.core.shell_commands.windows.powershell import (
    is_powershell,
    list_temporary_variables,
)
from guidance.core.shell_commands.windows.reader import Word, split_commands
from guidance.core.shell_commands.windows.searches import REMOVING, list_searched_names
from guidance.core.shell_commands.windows.started import (
    ALIASING,
    STARTERS,
    find_started,
)

# Only a text that has one of these, as a word of its own, can name a Windows command.
WINDOWS_SIGNS = compile_byte_pattern(
    r"(?:^|[^\w.-])(?:(?:remove|clear|disable|uninstall|unregister|initialize)-[a-z]+"
    r"|format-volume|(?:stop|restart)-computer|invoke-[a-z]+|iex|del|rd|erase|ri|rp|rni|ni"
    r"|wmic|rundll32|doskey|conhost|pcalua|psexec|winrs|runas|schtasks|start-process|saps|sal|nal"
    r"|(?:set|new)-alias|new-item|start /[a-z]+|if (?:not )?exist)(?:[^\w.]|$)"
    r"|\]::(?:delete|remove|writeall)|\)\.delete|\$\w[\w.]*\.delete|\.delete(?:folder|file)"
    r"|[a-z]\^[a-z]|%(?:comspec|systemroot|windir)|scriptblock\]::|\.invokescript|\.addscript"
    r"|win32_process|(?:^|[;|{\n])[ \t]*(?:[&.][ \t]*\((?:['\"$\[]|g)|&[ \t]*\$)",
    ignore_case=True,
)
# Texts over several lines, which are data.
_HERE_STRING = re.compile(r"@(['\"])[ \t]*\r?\n(?:.*?\r?\n)?\1@", re.DOTALL)
# A command in the place of an argument.
_ARGUMENT = re.compile(
    r"(?<=[\w\"'/.-])[ \t]+\([a-zA-Z][\w.-]*(?:[ \t]+[\w./:=@'\"-]+)*[ \t]*\)"
)
# A text that is put together before it is run.
_COMPUTED = re.compile(r"-join\b|-f\s|-replace\b|\[char\]|::from|\.replace\(", re.I)
_DELETING = frozenset(("remove-item", "ri", "rd", "rmdir", "del", "erase"))
_TO_NOTHING = re.compile(r"[12]?>(?:nul|&[12]|\$null)", re.IGNORECASE)
# No other shell asks so.
_CONDITION = re.compile(
    r"(?:^|[&|(\n])[ \t]*if[ \t]+(?:not[ \t]+)?(?:exist|defined|errorlevel)[ \t]",
    re.IGNORECASE,
)
# Cmdlets of any module, also inside of `ForEach-Object { … }`.
_CMDLET = re.compile(r"(?:Remove|Clear|Uninstall|Unregister|Reset|Revoke)-[A-Z]\w+")
_EVALUATING = frozenset(("iex", "invoke-expression"))
_COMMAND = re.compile(r"-c(?:o(?:m(?:m(?:a(?:nd?)?)?)?)?)?\Z", re.IGNORECASE)
_MOST_LATER = 24
_TAKING = ("-executionpolicy", "-ep", "-ex", "-exec", "-w", "-windowstyle", "-version")


def look_for_windows(walk: Walk, script: Script) -> None:
    """Read a shell's text as a Windows shell would, for that shell's own commands.

    Here-documents are data for both.
    """
    text = script.text
    for start, end in reversed(script.bodies):
        text = text[:start] + " " * (end - start) + text[end:]
    if WINDOWS_SIGNS.search(encode_one_byte(text)) is not None:
        if is_powershell(text) or _CONDITION.search(text):
            walk.report.forget_syntax()
        judge_windows(walk, text, origin=script.origin, via=(), own=True)


def look_for_arguments(walk: Walk, script: Script) -> None:
    """`git push origin (git branch --show-current)`: PowerShell runs what is in parentheses.

    No other shell accepts it, so everything is judged as PowerShell reads it.
    """
    if _ARGUMENT.search(script.text) and not script.bodies:
        walk.report.forget_syntax()
        judge_windows(walk, script.text, origin=script.origin, via=())


def judge_windows(
    walk: Walk, text: str, *, origin: Origin, via: tuple[str, ...], own: bool = False
) -> None:
    """Judge a text as a Windows shell would cut it; with `own` its own commands only."""
    walk.enter(text)
    text = _HERE_STRING.sub(_blank, text)
    walk.known.temporary |= list_temporary_variables(text)
    expanded = expand_variables(text)
    if expanded != text:
        # Places are no longer those of the text that was given.
        text, origin = expanded, Origin(place=origin.get_span(0, len(text)))
    script = Script(text, origin, [])
    _judge_composition(walk, text, origin=origin, via=via)
    aliases: dict[str, str] = {}
    fetching = "downloadstring" in text.lower()
    downloaded = False
    commands = list(split_commands(text, walk.budget))
    searched: frozenset[str] = frozenset()
    for number, (words, piped) in enumerate(commands):
        walk.budget.count_commands()
        argv = [word for word, _, _ in words]
        name = resolve_program(argv[0])
        if name in aliases:
            argv = [aliases[name], *argv[1:]]
            name = resolve_program(argv[0])
        if name in ALIASING and len(operands := _list_operands(argv)) > 1:
            aliases[operands[0].lower()] = operands[1]
        simple = Simple([*argv], words[0][1])
        simple.end = words[-1][2]
        call = ProgramCall(name, argv, script, simple, via, -1)
        call.more = None if piped else ()
        if not piped:
            searched = list_searched_names(name, argv)
        if name in _EVALUATING:
            _run_expression(walk, call, downloaded=downloaded)
        elif (
            name in REMOVING
            and searched
            and piped
            and not _list_operands(argv)
            and searched <= walk.disposable | _list_built(commands[number + 1 :])
        ):
            # Only what a tool makes again.
            pass
        elif name in _DELETING and _deletes_built(argv, commands[number + 1 :]):
            pass
        elif started := find_started(call):
            _run_started(walk, call, started)
        elif (
            not own or name in WINDOWS or name in _SHELLS or _CMDLET.fullmatch(argv[0])
        ):
            walk.run(call)
        downloaded = downloaded or fetching or name in DOWNLOADERS
    walk.leave()


def _list_built(commands: list[tuple[list[Word], bool]]) -> frozenset[str]:
    """The folders that later commands build anew."""
    return list_built(
        [word for word, _, _ in words] for words, _ in commands[:_MOST_LATER]
    )


def _deletes_built(argv: list[str], later: list[tuple[list[Word], bool]]) -> bool:
    """Folders of the working folder alone, each of which is built anew."""
    words = [word for word in argv if not _TO_NOTHING.fullmatch(word)]
    paths = sort_arguments(argv[0].lower(), words, slashes=True).operands
    built = _list_built(later) if paths else frozenset[str]()
    return bool(built) and all(
        path.replace("\\", "/").removeprefix("./").rstrip("/") in built
        for path in paths
    )


def _judge_composition(
    walk: Walk, text: str, *, origin: Origin, via: tuple[str, ...]
) -> None:
    """What is deleted by a method, run as a text, or called by a computed name."""
    for match in METHODS.finditer(text):
        walk.report.add_at("windows-remove", origin.get_span(*match.span()), via=via)
    for match in EMPTYING.finditer(text):
        walk.report.add_at("empty-file", origin.get_span(*match.span()), via=via)
    for start, end in list_computed_calls(text):
        span = origin.get_span(start, end)
        walk.report.add_at("opaque-name", span, via=via, uninspectable=True)
    for inner, start, end in list_run_texts(text):
        if inner:
            place = Origin(place=origin.get_span(start, end))
            judge_windows(walk, inner, origin=place, via=(*via, "script block"))
        else:
            span = origin.get_span(start, end)
            walk.report.add_at("opaque-script", span, via=via, uninspectable=True)


def _run_started(walk: Walk, call: ProgramCall, text: str) -> None:
    walk.judge(call)
    origin = walk.report.make_whole_origin(call)
    judge_windows(walk, text, origin=origin, via=(*call.via, call.name))


def _list_operands(argv: list[str]) -> list[str]:
    return [word for word in argv[1:] if word[:1] != "-"]


def unwrap_starter(walk: Walk, call: ProgramCall) -> None:
    """The same programs, met in another shell."""
    text = find_started(call)
    if text:
        _run_started(walk, call, text)
    else:
        walk.judge(call)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _run_expression(walk: Walk, call: ProgramCall, *, downloaded: bool) -> None:
    text = " ".join(call.argv[1:])
    if downloaded:
        walk.report.add_opaque("opaque-download", call)
    elif not text or "$" in text or UNKNOWN in text or _COMPUTED.search(text):
        walk.report.add_opaque("opaque-script", call)
    else:
        judge_windows(
            walk,
            text,
            origin=walk.report.make_whole_origin(call),
            via=(*call.via, call.name),
        )


def unwrap_cmd(walk: Walk, call: ProgramCall) -> None:
    """cmd /c text: quotes around the whole are cmd's, the rest is joined."""
    for index, word in enumerate(call.argv):
        if word.lower() in ("/c", "/k", "//c", "//k") and index + 1 < len(call.argv):
            rest = call.argv[index + 1 :]
            origin = walk.report.make_whole_origin(call, index=index + 1)
            if len(rest) == 1:
                origin = walk.report.make_origin(call, index + 1)
            judge_windows(
                walk, " ".join(rest), origin=origin, via=(*call.via, "cmd /c")
            )
            return
    content = walk.find_stdin(call)
    if content is not None:
        walk.walk_content(content, call, "cmd")


def unwrap_powershell(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    index = 1
    while index < len(argv):
        word = argv[index]
        if _is_encoded(word):
            walk.report.add_opaque("opaque-decoded", call)
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
        content = walk.find_stdin(call)
        if content is not None and content.opaque:
            walk.walk_content(content, call, "powershell")
        elif content is not None:
            origin = content.origin or walk.report.make_whole_origin(call)
            judge_windows(
                walk, content.text, origin=origin, via=(*call.via, "powershell")
            )
        return
    text = " ".join(rest)
    if text.strip(UNKNOWN) == "":
        walk.report.add_opaque("opaque-script", call)
        return
    origin = (
        walk.report.make_origin(call, index)
        if len(rest) == 1
        else walk.report.make_whole_origin(call, index=index)
    )
    judge_windows(walk, text, origin=origin, via=(*call.via, "powershell"))


def _is_encoded(word: str) -> bool:
    """-EncodedCommand, in any length."""
    flag = word[1:].lower()
    return word[:1] in ("-", "/") and (
        flag == "ec" or (flag != "" and "encodedcommand".startswith(flag))
    )


def unwrap_forfiles(walk: Walk, call: ProgramCall) -> None:
    """forfiles /c "cmd /c del @file"."""
    for index, word in enumerate(call.argv[:-1]):
        if word.lower() == "/c":
            text = call.argv[index + 1]
            origin = walk.report.make_origin(call, index + 1)
            judge_windows(walk, text, origin=origin, via=(*call.via, "forfiles"))


# Programs that are read whoever reads the text around them.
_SHELLS = frozenset(("cmd", "powershell", "forfiles"))
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(STARTERS, unwrap_starter),
    "cmd": unwrap_cmd,
    "powershell": unwrap_powershell,
    "forfiles": unwrap_forfiles,
    "iex": lambda walk, call: _run_expression(walk, call, downloaded=False),
    "invoke-expression": lambda walk, call: _run_expression(
        walk, call, downloaded=False
    ),
}
