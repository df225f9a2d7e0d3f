"""Options of other programs that are given to a shell, and ways out of editors."""

from __future__ import annotations

import re
from collections.abc import Mapping

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_options import read_attached_value
from guidance.core.shell_commands.unwrap.wrappers import unwrap_wrapper
from guidance.core.shell_commands.walk import Handler, Walk

# The value of these is a command line.
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "tar": ("--to-command", "-I", "--use-compress-program", "-F", "--info-script"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "man": ("-P", "--pager"),
    "zip": ("-TT", "--unzip-command"),
    "sort": ("--compress-program",),
    "split": ("--filter",),
    "npx": ("-c", "--call"),
    "bazel": ("--run_under",),
    "fzf": ("--preview",),
    "lldb": ("-o", "-O"),
    "tcpdump": ("-z",),
    "aria2c": ("--on-download-complete", "--on-download-start"),
    "sbatch": ("--wrap",),
    "wget": ("--use-askpass",),
    "vim": ("-c", "--cmd"),
    "gdb": ("-ex", "-iex"),
    "scp": ("-S",),
    "sftp": ("-S",),
}
_EDITORS = ("vi", "nvim", "view", "ex", "gvim", "less", "more")
# What leads from an editor or debugger to a shell.
_WAY_OUT = re.compile(
    r":?[ \t]*(?:silent[ \t]+)?!(.*)|:?[ \t]*shell[ \t]+(.*)", re.DOTALL
)
_SSH_COMMAND = re.compile(r"(?:proxy|local|knownhosts|remote)command\s*=?\s*(.+)", re.I)
# GNU sed: `1e command`, and the flag e of s/…/…/.
_SED_COMMAND = re.compile(
    r"(?:^|[;{}\n])[ \t]*+(?:\d++|\$|/[^/\n]{0,200}+/)?+[ \t]*+e[ \t]++([^;}\n]++)"
)
_SED_FLAG = re.compile(
    r"s([/|#,])(?:\\.|(?!\1)[^\n\\]){0,200}+\1((?:\\.|(?!\1)[^\n\\]){0,500}+)\1"
    r"[gpiI0-9]{0,8}e\b"
)


def unwrap_options(walk: Walk, call: ProgramCall) -> None:
    """Programs whose options hold commands."""
    flags = _OPTIONS.get(call.name, ("-c", "--cmd"))
    argv = call.argv
    for index, word in enumerate(argv[1:], 1):
        text = read_attached_value(word, *flags)
        if word in flags and index + 1 < len(argv):
            text = argv[index + 1]
        if word.startswith("--checkpoint-action=exec="):
            text = word.partition("exec=")[2]
        if text is None and word[:1] == "+" and call.name in (*_EDITORS, "vim"):
            text = word[1:]
        if text:
            _run_text(walk, call, text, word)


def _run_text(walk: Walk, call: ProgramCall, text: str, flag: str) -> None:
    if call.name in (*_EDITORS, "vim", "gdb"):
        match = _WAY_OUT.match(text)
        text = (match[1] or match[2] or "") if match else ""
    if text:
        via = (*call.via, f"{call.name} {flag.partition('=')[0]}")
        walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)


def unwrap_debugger(walk: Walk, call: ProgramCall) -> None:
    unwrap_options(walk, call)
    unwrap_wrapper(walk, call)


def judge_next(walk: Walk, call: ProgramCall) -> None:
    unwrap_options(walk, call)
    walk.judge(call)


def unwrap_line_editor(walk: Walk, call: ProgramCall) -> None:
    """ed and ex read their commands; those after an exclamation mark are the shell's."""
    unwrap_options(walk, call)
    content = walk.find_stdin(call)
    if content is not None and not content.opaque:
        for line in content.text.splitlines():
            _run_line(walk, call, line)


def _run_line(walk: Walk, call: ProgramCall, line: str) -> None:
    match = _WAY_OUT.match(line)
    if match and match[1]:
        via = (*call.via, f"{call.name} !")
        walk.walk_shell(match[1], origin=walk.report.make_whole_origin(call), via=via)


def unwrap_stream_editor(walk: Walk, call: ProgramCall) -> None:
    """sed, whose e command runs something."""
    walk.judge(call)
    for word in call.argv[1:]:
        if "e" not in word or word[:2] == "--":
            continue
        found = _SED_COMMAND.search(word) or _SED_FLAG.search(word)
        if found is not None:
            via = (*call.via, "sed e")
            text = found.group(found.lastindex or 0)
            walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)


def unwrap_ssh_options(walk: Walk, call: ProgramCall) -> None:
    """ProxyCommand and its like."""
    for index, word in enumerate(call.argv[1:], 1):
        value = read_attached_value(word, "-o")
        if word == "-o" and index + 1 < len(call.argv):
            value = call.argv[index + 1]
        match = _SSH_COMMAND.match(value) if value else None
        if match:
            via = (*call.via, "ssh -o")
            walk.walk_shell(
                match[1], origin=walk.report.make_whole_origin(call), via=via
            )


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("tar", "rsync", "zip"), judge_next),
    **dict.fromkeys(
        ("man", "sort", "split", "vim", "vi", "nvim", "view", "gvim"), unwrap_options
    ),
    **dict.fromkeys(("less", "more", "scp"), unwrap_options),
    **dict.fromkeys(("ed", "ex"), unwrap_line_editor),
    **dict.fromkeys(
        ("bazel", "fzf", "lldb", "tcpdump", "aria2c", "sbatch"), judge_next
    ),
    "gdb": unwrap_debugger,
    "sed": unwrap_stream_editor,
}
