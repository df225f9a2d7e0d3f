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
    "gdb": ("-ex", "-iex"),
    "scp": ("-S",),
    "sftp": ("-S",),
}
_PAGERS = ("less", "more")
# What leads from an editor or debugger to a shell.
_WAY_OUT = re.compile(
    r":?[ \t]*(?:silent[ \t]+)?!(.*)|:?[ \t]*(?:platform[ \t]+)?shell[ \t]+(.*)",
    re.DOTALL,
)
_SSH_COMMAND = re.compile(r"(?:proxy|local|knownhosts|remote)command\s*=?\s*(.+)", re.I)
# GNU sed: `1e command`, and the flag e of s/…/…/.
SED_COMMAND = re.compile(
    r"(?:^|[;{}\n])[ \t]*(?:(?:\d+|\$|/[^/\n]{0,200}/)[ \t]*)?e[ \t]+([^;}\n \t][^;}\n]*)"
)
SED_FLAG = re.compile(
    r"s([/|#,])(?:\\.|(?!\1)[^\n\\]){0,200}\1((?:\\.|(?!\1)[^\n\\]){0,500})\1"
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
        if text is None and word[:1] == "+" and call.name in _PAGERS:
            text = word[1:]
        if text:
            _run_text(walk, call, text, word)


def _run_text(walk: Walk, call: ProgramCall, text: str, flag: str) -> None:
    if call.name in (*_PAGERS, "gdb", "lldb"):
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
    **dict.fromkeys(("man", "split"), unwrap_options),
    **dict.fromkeys(("less", "more", "scp"), unwrap_options),
    **dict.fromkeys(
        ("bazel", "fzf", "lldb", "tcpdump", "aria2c", "sbatch"), judge_next
    ),
    "gdb": unwrap_debugger,
}
