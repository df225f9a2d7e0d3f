"""Clients that move files: what they are told to delete, or to run here."""

from __future__ import annotations

import re
from itertools import pairwise

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_options import find_option_value
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.unwrap.escapes import unwrap_options
from guidance.core.shell_commands.walk import Handler, Walk

_LOCAL = re.compile(r"^[ \t]*-?!(.*)$", re.MULTILINE)
_REMOVES = re.compile(
    r"(?:^|[;&\n])[ \t]*-?(?:rm|rmdir|del|dele|delete|deltree|mdel|mdelete|mrm|rmd)\b",
    re.I,
)
# Options that hold commands, or name the file they stand in.
_TEXT = ("-c", "-e", "--command")
# Of the others -c is something else.
_TEXTS = ("lftp", "smbclient")
_FILE = ("-b", "-f", "-s")
# What curl sends to a server before it transfers, and its settings in a file.
_QUOTE = re.compile(r"[-+*]?(?:dele|rmd|rm|rmdir)\b", re.IGNORECASE)
_SETTING = re.compile(r"^\s*-*(?:request|X)[\s=:]+\"?delete\b", re.I | re.M)


def unwrap_transfer(walk: Walk, call: ProgramCall) -> None:
    """sftp, ftp and lftp: commands in an option, a batch file or the input."""
    unwrap_options(walk, call)
    argv = call.argv
    content: Content | None = None
    place = find_option_value(argv, *_TEXT) if call.name in _TEXTS else 0
    if place:
        content = Content(argv[place])
    elif (place := find_option_value(argv, *_FILE)) and argv[place] != "-":
        content = walk.known.get_file(argv[place])
    if content is None:
        content = walk.find_stdin(call)
    if content is None or content.opaque:
        return
    for text in _LOCAL.findall(content.text):
        origin = walk.report.make_whole_origin(call)
        walk.walk_shell(text, origin=origin, via=(*call.via, f"{call.name} !"))
    if _REMOVES.search(content.text):
        walk.report.add("delete-file", call)


def judge_requests(walk: Walk, call: ProgramCall) -> None:
    """curl: commands for a file server, and settings that it reads."""
    argv = call.argv
    for flag, value in pairwise(argv):
        if flag in ("-Q", "--quote") and _QUOTE.match(value):
            walk.report.add("delete-file", call)
        elif flag in ("-K", "--config"):
            content = walk.known.get_file(value)
            if value == "-":
                content = walk.find_stdin(call)
            if content is not None and _SETTING.search(content.text):
                walk.report.add("http-delete", call)


HANDLERS: dict[str, Handler] = dict.fromkeys(
    ("sftp", "ftp", "lftp", "tnftp", "ncftp", "smbclient"), unwrap_transfer
)
