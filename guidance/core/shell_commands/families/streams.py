"""What stands on the input of a program that sends it on, and where that comes from."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.destinations import PASTE, is_local
from guidance.core.shell_commands.families.environment import list_secret_variables
from guidance.core.shell_commands.families.pipelines import list_feeders
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.shell.tree import Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

STREAMING = split_names("nc ncat netcat openssl telnet ssh socat")
# What stores its input on the other side; what waits for others, or only knocks.
_STORING = re.compile(r"cat\s*>|tee\s|tar\s+\S*x|dd\s+of=|cat$")
_SOCKET_END = re.compile(
    r"(?:tcp|udp|openssl|ssl|sctp)[46]?(?:-connect)?:([\w.-]+)", re.IGNORECASE
)
_LISTENING = re.compile(r"-[a-z]*[lz][a-z]*")
_HARMLESS_FEEDERS = split_names("echo printf jq yes true seq date")
READING = split_names(
    "cat base64 base32 xxd od head tail tar gzip zip gpg openssl env printenv strings less sed awk grep"
)
_ACCOUNTS = ("/etc/passwd", "/etc/group")


def judge_stream(walk: Walk, call: ProgramCall) -> None:
    """nc and its like: what stands on their input."""
    argv = call.argv
    if call.name == "openssl" and "s_client" not in argv:
        return
    if call.name == "ssh" and not _STORING.search(argv[-1]):
        return
    if call.name != "ssh" and any(map(_LISTENING.fullmatch, argv[1:])):
        return
    hosts = [word for word in argv[1:] if word[:1] != "-" and word != "s_client"]
    if call.name == "socat":
        hosts = [found[1] for word in argv[1:] if (found := _SOCKET_END.match(word))]
        if not hosts:
            return
    if hosts and is_local(hosts[0].rpartition("@")[2]):
        return
    rule = judge_fed_input(walk, call)
    if rule:
        paste = any(PASTE.search(word) for word in argv)
        walk.report.add_whole(
            "exfil-paste" if paste and rule == "exfil-upload" else rule, call
        )


def judge_socket(walk: Walk, call: ProgramCall, path: str) -> None:
    """`> /dev/tcp/host/port`."""
    host = path.split("/")[3] if path.count("/") > 3 else ""
    if is_local(host):
        return
    if any(find_secret_rule(word) or word in _ACCOUNTS for word in call.argv[1:]):
        walk.report.add_whole("exfil-secret", call)
    elif resolve_program(call.argv[0]) in READING if call.argv else False:
        walk.report.add_whole("exfil-upload", call)


def judge_fed_input(walk: Walk, call: ProgramCall) -> str:
    """Which rule what it reads breaks, if any."""
    for redirect in call.simple.redirects:
        if redirect.operator == "<" and isinstance(redirect.target, str | Word):
            path = walk.known.expand_word(redirect.target)
            if path == "/dev/null":
                return ""
            return "exfil-secret" if is_secret(path) else "exfil-upload"
    if call.simple.stage is None:
        return ""
    for feeder in list_feeders(call.script, call.simple):
        argv = walk.known.build_argv(feeder.words)
        if any(is_secret(word) for word in argv[1:]) or list_secret_variables(
            walk, feeder
        ):
            return "exfil-secret"
    return "exfil-upload" if is_fed(walk, call) else ""


def is_fed(walk: Walk, call: ProgramCall) -> bool:
    """By something that is not written out in the command itself."""
    feeders = list(list_feeders(call.script, call.simple))
    if feeders:
        for feeder in feeders:
            argv = walk.known.build_argv(feeder.words)
            name = resolve_program(argv[0]) if argv else ""
            if name not in _HARMLESS_FEEDERS or (name == "jq" and "-n" not in argv):
                content = walk.find_stdin(call)
                return content is None or bool(content.opaque)
        return False
    return any(redirect.operator == "<" for redirect in call.simple.redirects)


def is_secret(path: str) -> bool:
    return bool(find_secret_rule(path)) or path in _ACCOUNTS
