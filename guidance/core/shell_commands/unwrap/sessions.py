"""Commands for another time or another session: at, crontab, screen, tmux."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
)
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.walk import Handler, Walk


def unwrap_later(walk: Walk, call: ProgramCall) -> None:
    """at and batch run what they read."""
    if find_option_value(call.argv, "-f") or "-l" in call.argv or "-r" in call.argv:
        return
    content = walk.find_stdin(call)
    if content is not None:
        walk.walk_content(content, call, call.name)


def unwrap_crontab(walk: Walk, call: ProgramCall) -> None:
    """crontab: the lines it reads, without their times."""
    walk.judge(call)
    if any(word in call.argv for word in ("-l", "-r", "-e")):
        return
    content = walk.find_stdin(call)
    if content is None:
        return
    if content.opaque:
        walk.walk_content(content, call, "crontab")
        return
    lines = [job for line in content.text.splitlines() if (job := _read_job(line))]
    if not lines:
        walk.report.add("schedule-remove", call)
    walk.walk_content(Content("\n".join(lines)), call, "crontab")


def _read_job(line: str) -> str:
    line = line.strip()
    if not line or line.startswith("#"):
        return ""
    times = 1 if line.startswith("@") else 5
    parts = line.split(None, times)
    return parts[times] if len(parts) > times else ""


def unwrap_terminal(walk: Walk, call: ProgramCall) -> None:
    """screen and tmux: a command to start, or keys typed into a shell."""
    argv = call.argv
    if call.name == "screen" and "-X" in argv:
        # Keys for a session that is already there.
        for place in range(argv.index("-X") + 2, len(argv)):
            walk.walk_argument(call, place, "screen -X")
        return
    taking = ("-S", "-s", "-t", "-n", "-c", "-x", "-y", "-F", "-L", "-f", "-T", "-e")
    places = find_operands(argv, taking=taking)
    if not places:
        return
    if call.name == "screen":
        walk.run_inner(call, places[0], "screen")
        return
    verb = argv[places[0]]
    if verb.startswith(("send", "new", "neww", "split", "respawn", "run", "pipe")):
        for place in places[1:]:
            walk.walk_argument(call, place, f"tmux {verb}")


HANDLERS: dict[str, Handler] = {
    "at": unwrap_later,
    "batch": unwrap_later,
    "newgrp": unwrap_later,
    "crontab": unwrap_crontab,
    "screen": unwrap_terminal,
    "tmux": unwrap_terminal,
}
