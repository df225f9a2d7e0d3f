"""Editors that work through a program of commands: vim, ex, ed, sed."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import scan_content
from guidance.core.shell_commands.code.language import LUA, PERL, PYTHON, RUBY, Language
from guidance.core.shell_commands.code.scan import Scan
from guidance.core.shell_commands.paths import (
    is_sink,
    is_source,
    is_system_file,
    is_temporary,
)
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.unwrap.escapes import SED_COMMAND, SED_FLAG
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import split_names

_VIMS = split_names("vim vi nvim view gvim ex rvim vimdiff")
_TAKING = ("-c", "--cmd", "-S", "-u", "-U", "-i", "-T", "-s", "-w", "-W")
_COMMAND = re.compile(
    r"^[ \t:]*(?:(?:silent|sil|execute|exe|noautocmd|keepalt)!?[ \t]+[\"']?)?"
)
# Ranges that mean the whole file, before a command that deletes it.
_ALL = r"(?:%|1,\$|0,\$|,|g/[.^]?\*?/|g!?/\^/|v/\\?_/)"
_DELETES = re.compile(
    rf"{_ALL}[ \t]*d(?:e(?:l(?:e(?:te?)?)?)?)?\b|norm(?:al)?!?[ \t]+(?:gg\"?_?dG|ggVGd)"
    r"|(?:%|1,\$)s([/#|])(?:\^?(?:\\_)?\.\*\$?)\1\1"
)
_WRITES = re.compile(r"(?:w|wq|x|wa|wqa|xa|update|write)\b[!a]*")
_WRITES_TO = re.compile(r"(?:[^a-zA-Z]*)(?:w|write|sav|saveas)!?[ \t]+(?!!)(\S+)")
_PIPES = re.compile(r"(?:[%\d,.$]*|r|read|w|write)[ \t]*!(.*)", re.DOTALL)
_CALLS = re.compile(
    r"(?:call[ \t]+|=|let[ \t]+\w+[ \t]*=[ \t]*)?(delete|system|systemlist)\("
)
_BUNDLE = re.compile(r"-[eEsnNyZ]{1,6}c")
_WRITES_NOTHING = re.compile(r"writefile\(\s*\[\s*(?:''|\"\")?\s*\]")
_LITERAL = re.compile(r"[\"']([^\"'\n]*)[\"']")
_EMBEDDED: tuple[tuple[re.Pattern[str], Language], ...] = (
    (re.compile(r"lua[ \t]+(?:<<)?(.*)", re.DOTALL), LUA),
    (re.compile(r"py(?:thon)?[3x]?[ \t]+(.*)", re.DOTALL), PYTHON),
    (re.compile(r"rub(?:y)?[ \t]+(.*)", re.DOTALL), RUBY),
    (re.compile(r"pe(?:rl)?[ \t]+(.*)", re.DOTALL), PERL),
)


def unwrap_vim(walk: Walk, call: ProgramCall) -> None:
    """Commands in options, in a file that this command wrote, or in the input."""
    argv = call.argv
    commands: list[str] = []
    for index, word in enumerate(argv[1:], 1):
        if (word in ("-c", "--cmd") or _BUNDLE.fullmatch(word)) and index + 1 < len(
            argv
        ):
            commands.append(argv[index + 1])
        elif (text := read_attached_value(word, "-c", "--cmd")) is not None:
            commands.append(text)
        elif word[:1] == "+":
            commands.append(word[1:])
        elif word == "-l" and index + 1 < len(argv):
            content = walk.known.get_file(argv[index + 1])
            if content is not None:
                scan_content(walk, call, content, LUA)
        elif word in ("-S", "-s") and index + 1 < len(argv):
            commands += _list_lines(walk.known.get_file(argv[index + 1]))
    if call.name == "ex" or any(word.startswith(("-e", "-E")) for word in argv[1:]):
        commands += _list_lines(walk.find_stdin(call))
    _run_commands(walk, call, commands, _list_files(argv))


def unwrap_line_editor(walk: Walk, call: ProgramCall) -> None:
    """ed reads its commands."""
    commands = _list_lines(walk.find_stdin(call))
    _run_commands(walk, call, commands, _list_files(call.argv))


def _list_lines(content: Content | None) -> list[str]:
    return (
        content.text.splitlines() if content is not None and not content.opaque else []
    )


def _list_files(argv: list[str]) -> list[str]:
    places = find_operands(argv, taking=_TAKING)
    return [argv[place] for place in places if argv[place][:1] != "+"]


def _run_commands(
    walk: Walk, call: ProgramCall, commands: list[str], files: list[str]
) -> None:
    deleted = False
    for line in commands:
        walk.budget.count_step()
        for command in re.split(r"[ \t]*\|[ \t]*(?=\w)", line):
            text = _COMMAND.sub("", command, count=1)
            deleted = deleted or _DELETES.match(text) is not None
            if deleted and _WRITES.match(text) and _is_worth(walk, files):
                walk.report.add("empty-file", call)
            _run_command(walk, call, text)


def _is_worth(walk: Walk, files: list[str]) -> bool:
    folder = walk.known.folder
    return not files or any(not is_temporary(file, folder=folder) for file in files)


def _run_command(walk: Walk, call: ProgramCall, text: str) -> None:
    origin = walk.report.make_whole_origin(call)
    via = (*call.via, f"{call.name} !")
    if match := _PIPES.match(text):
        walk.walk_shell(match[1], origin=origin, via=via)
    elif match := _WRITES_TO.match(text):
        if is_system_file(match[1]):
            walk.report.add("overwrite-system-file", call)
    elif _WRITES_NOTHING.search(text):
        walk.report.add("empty-file", call)
    elif match := _CALLS.search(text):
        literal = _LITERAL.match(text, match.end())
        if match[1] != "delete":
            walk.walk_shell(literal[1] if literal else "", origin=origin, via=via)
            if literal is None:
                walk.report.add_opaque("opaque-code", call)
        elif literal is None or not is_temporary(literal[1]):
            walk.report.add("code-delete", call)
    else:
        for pattern, language in _EMBEDDED:
            if match := pattern.match(text):
                code = match[1]
                Scan(walk, call, code=code, origin=origin, via=call.name).run(language)


_IN_PLACE = re.compile(r"-(?:[nrEsuz]*i.*)\Z|--in-place(?:=.*)?\Z")
_QUIET = re.compile(r"-[rEsuzi]*n[rEsuzi]*|--quiet|--silent")
# Patterns and replacements, in which letters are no commands.
_TEXTS = re.compile(
    r"[sy]([/|#,@!])(?:(?:\\.|(?!\1)[^\n\\]){0,500}\1){2}|/(?:\\.|[^/\n\\]){0,500}/"
)
_PRINTS = re.compile(r"[pPwWaciIr=]")
_REPLACEMENT = re.compile(
    r"s([/|#,@!])(?:\\.|(?!\1)[^\n\\]){0,200}\1((?:\\.|(?!\1)[^\n\\]){0,500})\1"
)
_WRITTEN = re.compile(r"(?:^|[;{}\d$/])[ \t]*w[ \t]+([^\n;}]+)")


def unwrap_stream_editor(walk: Walk, call: ProgramCall) -> None:
    """sed: its e command runs something, its w command writes, -i may leave nothing."""
    walk.judge(call)
    argv = call.argv
    for word in argv[1:]:
        if "e" not in word or word[:2] == "--":
            continue
        found = SED_COMMAND.search(word) or SED_FLAG.search(word)
        if found is not None:
            via = (*call.via, "sed e")
            text = found.group(found.lastindex or 0)
            walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)
    place = find_option_value(argv, "-e", "--expression")
    places = find_operands(argv, taking=("-e", "--expression", "-f", "--file", "-l"))
    if not place and not places:
        return
    script = argv[place] if place else argv[places[0]]
    files = [argv[index] for index in (places if place else places[1:])]
    _judge_written(walk, call, script, files)
    if not any(_IN_PLACE.match(word) for word in argv[1:]) or not files:
        return
    quiet = any(_QUIET.fullmatch(word) for word in argv[1:])
    if quiet and not _PRINTS.search(_TEXTS.sub("", script)) and _is_worth(walk, files):
        walk.report.add("empty-file", call)
    if replaced := _REPLACEMENT.search(script):
        # Should one of the files be run later, this stands in it.
        for file in files:
            walk.known.write_file(file, Content(replaced[2]), append=True)


def _judge_written(
    walk: Walk, call: ProgramCall, script: str, files: list[str]
) -> None:
    for path in _WRITTEN.findall(script):
        if is_system_file(path):
            walk.report.add("overwrite-system-file", call)
        elif files == ["/dev/null"] and not is_sink(path) and _is_worth(walk, [path]):
            walk.report.add("empty-file", call)
        elif is_source(path) and path not in files and _is_worth(walk, [path]):
            walk.report.add("overwrite-file", call)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_VIMS, unwrap_vim),
    "ed": unwrap_line_editor,
    "red": unwrap_line_editor,
    "sed": unwrap_stream_editor,
}
