"""Redirections: files emptied or overwritten, devices written to, scripts prepared."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.judging.pipelines import list_inputs
from guidance.core.shell_commands.outputs import find_printed
from guidance.core.shell_commands.paths import (
    is_device,
    is_network,
    is_sink,
    is_system_file,
    is_temporary,
)
from guidance.core.shell_commands.rules.files.valuable_files import (
    is_home_setting,
    is_irreplaceable,
    is_marker,
)
from guidance.core.shell_commands.script_state import Printed
from guidance.core.shell_commands.shell.tree import Heredoc
from guidance.core.shell_commands.unwrap.shells import SHELLS
from guidance.core.shell_commands.walk import Walk

_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>", ">&"))
_REPLACING = frozenset((">", ">|", "&>", ">&"))
# Commands that print nothing: before a redirection they empty the file.
_SILENT = frozenset(("", ":", "true"))
_EMPTY = (["cat", "/dev/null"], ["type", "nul"], ["copy", "nul"])
_PRINTING = frozenset(("echo", "printf"))


def judge_redirections(walk: Walk, call: ProgramCall) -> None:
    told: set[str] = set()
    for redirect in call.simple.redirects:
        operator, target = redirect.operator, redirect.target
        if target == "/dev/null" or operator not in _WRITING:
            continue
        if isinstance(target, Heredoc):
            continue
        path = target if isinstance(target, str) else walk.known.expand_word(target)
        if operator == ">&" and (path.isdigit() or path == "-"):
            continue
        rule = _find_overwrite(walk, call, operator, path)
        if rule and rule not in told:
            told.add(rule)
            walk.report.add_whole(rule, call, uninspectable=rule.startswith("opaque"))
        if redirect.descriptor in ("", "1") and call.argv and not is_sink(path):
            printed = Printed(call.script, call.simple)
            walk.known.write_file(path, printed, append=operator[-2:] == ">>")


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
        return "" if is_marker(path) else "empty-file"
    if is_home_setting(path) or (call.name == "exec" and is_irreplaceable(path)):
        return "overwrite-file"
    if path in list_inputs(call.script, call.simple):
        return "overwrite-input"
    return ""


def _prints_nothing(walk: Walk, call: ProgramCall) -> bool:
    if call.name in _SILENT or call.argv in _EMPTY:
        return True
    if call.name not in _PRINTING:
        return False
    printed = find_printed(walk.known, call.script, call.simple)
    return not printed.opaque and not printed.text.strip()
