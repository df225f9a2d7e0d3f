"""Redirections: files emptied or overwritten, devices written to, scripts prepared."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.judging.pipelines import list_inputs
from guidance.core.shell_commands.outputs import find_printed
from guidance.core.shell_commands.paths import (
    is_device,
    is_network,
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
from guidance.core.shell_commands.rules.files.valuable_files import (
    is_home_setting,
    is_irreplaceable,
    is_marker,
    is_own_log,
)
from guidance.core.shell_commands.script_state import Printed
from guidance.core.shell_commands.shell.tree import Heredoc
from guidance.core.shell_commands.unwrap.escapes import unwrap_options
from guidance.core.shell_commands.unwrap.shells import SHELLS
from guidance.core.shell_commands.walk import Handler, Walk

_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>", ">&"))
_REPLACING = frozenset((">", ">|", "&>", ">&"))
# Commands that print nothing: before a redirection they empty the file.
_SILENT = frozenset(("", ":", "true", "false", "echo."))
# Files among the devices, which can be run as any others.
_IN_MEMORY = "/dev/shm/"  # noqa: S108
_EMPTY = (["cat", "/dev/null"], ["type", "nul"], ["copy", "nul"])
# Words that empty a cache.
_FLUSHES = ("flushall", "flushdb", "flush_all", "*1\r\n$8\r\nflush")
# Endings of files that hold more than messages.
_DATA = (".csv", ".tsv", ".json", ".parquet", ".xml", ".yml", ".yaml", ".toml", ".md")
# They print what they read.
_FILTERS = frozenset(("tac", "head", "tail", "sort", "uniq"))
# They print what they are given, and that may be nothing.
_PRINTING = frozenset(("echo", "printf", "cat"))


def judge_redirections(walk: Walk, call: ProgramCall) -> None:
    told: set[str] = set()
    for redirect in call.simple.redirects:
        operator, target = redirect.operator, redirect.target
        if target == "/dev/null" or operator not in _WRITING:
            continue
        if isinstance(target, Heredoc):
            continue
        path = target if isinstance(target, str) else walk.known.expand_word(target)
        if operator == ">&":
            path = walk.known.connections.get(path, path)
        elif call.name == "exec" and is_network(path):
            walk.known.connections[redirect.descriptor] = path
        if _sends_flush(walk, call, path):
            walk.report.add_whole("database-flush", call)
        if operator == ">&" and (path.isdigit() or path == "-"):
            continue
        rule = _find_overwrite(walk, call, operator, path)
        if rule and rule not in told:
            told.add(rule)
            walk.report.add_whole(rule, call, uninspectable=rule.startswith("opaque"))
        kept = path.startswith(_IN_MEMORY) or not is_sink(path)
        if redirect.descriptor in ("", "1") and call.argv and kept:
            printed = Printed(call.script, call.simple)
            walk.known.write_file(path, printed, append=operator[-2:] == ">>")


def _sends_flush(walk: Walk, call: ProgramCall, path: str) -> bool:
    """Words for a cache, sent through the shell's own connection."""
    if call.name not in _PRINTING or not is_network(path):
        return False
    printed = find_printed(walk.known, call.script, call.simple)
    return printed.text.strip().lower().startswith(_FLUSHES)


def _prints_nothing(walk: Walk, call: ProgramCall) -> bool:
    if call.name in _SILENT or call.argv in _EMPTY:
        return True
    if call.name in _FILTERS:
        read = [call.argv[place] for place in find_operands(call.argv)]
        return read == ["/dev/null"] or "-c0" in call.argv or "-n0" in call.argv
    if call.name not in _PRINTING:
        return False
    printed = find_printed(walk.known, call.script, call.simple)
    return not printed.opaque and not printed.text.strip()


def _is_error_log_over_source(call: ProgramCall, path: str) -> bool:
    """`2> main.c`: what goes there is no program."""
    return is_source(path) and any(
        redirect.descriptor == "2" and redirect.target == path
        for redirect in call.simple.redirects
    )


def _is_opened(call: ProgramCall, operator: str, path: str) -> bool:
    """Opened to be written later, or against the shell's own protection."""
    if call.name == "exec" and len(call.argv) == 1:
        return is_source(path) or path.endswith(_DATA)
    return operator in (">|", "&>") and (is_source(path) or path.endswith(".md"))


def unwrap_sort(walk: Walk, call: ProgramCall) -> None:
    """sort -o: nothing, sorted, is an empty file."""
    unwrap_options(walk, call)
    place = find_option_value(call.argv, "-o", "--output")
    if place and "/dev/null" in call.argv:
        path = read_attached_value(call.argv[place], "--output") or call.argv[place]
        if not is_temporary(path, folder=walk.known.folder):
            walk.report.add("empty-file", call)


def _find_overwrite(walk: Walk, call: ProgramCall, operator: str, path: str) -> str:
    if is_device(path):
        return "disk-write"
    if is_network(path):
        # Only probing a port is harmless.
        return "opaque-remote" if call.name in SHELLS else ""
    if operator not in _REPLACING:
        return ""
    if is_system_file(path):
        return "overwrite-system-file"
    if is_sink(path) or is_temporary(path, folder=walk.known.folder):
        return ""
    if _prints_nothing(walk, call):
        return "" if is_marker(path) or is_own_log(path) else "empty-file"
    if _is_error_log_over_source(call, path) or _is_opened(call, operator, path):
        return "empty-file"
    if is_home_setting(path) or (call.name == "exec" and is_irreplaceable(path)):
        return "overwrite-file"
    if path in list_inputs(call.script, call.simple):
        return "overwrite-input"
    return ""


HANDLERS: dict[str, Handler] = {"sort": unwrap_sort}
