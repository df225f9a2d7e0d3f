"""What commands print, as far as the text itself tells: for pipes, files, $(…)."""

from __future__ import annotations

import re
from collections.abc import Callable

from guidance.core.shell_commands.origin import cut_origin
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.script_state import Content, ScriptState
from guidance.core.shell_commands.shell.quoting import decode_ansi
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Heredoc,
    Script,
    Simple,
    Substitution,
    Word,
)
from guidance.core.shell_commands.word_lists import split_names

DOWNLOADERS = split_names(
    "curl wget fetch aria2c lynx w3m elinks links http nc ncat netcat socat ftp tftp "
    "lftp telnet scp sftp ssh invoke-webrequest invoke-restmethod iwr irm"
)
DECODERS = split_names(
    "base64 base32 basenc xxd uudecode openssl gpg gpg2 age sops rev tr tac od hexdump iconv "
    "ascii85 recode certutil"
)
_UNPACKERS = split_names(
    "gunzip gzip zcat bunzip2 bzip2 bzcat xz xzcat unxz zstd zstdcat lz4 brotli unzip"
)
# They hand on what they are given, or run another command in front of it.
_PASSING = split_names("cat tee pv stdbuf unbuffer buffer mbuffer sponge")
_PREFIXES = split_names("sudo doas env command builtin nohup nice time exec busybox")
_NOTHING = Content()
# Stands for the name of a container that the command itself has started.
MADE_CONTAINER = "container-made-here"
_FORMAT = re.compile(r"%(?:%|[-+ 0#]*(?:[1-9.][0-9.]*)?[a-zA-Z])")
# More commands than these in one stage are not followed.
_MOST = 16
# Nor are pipelines followed further back than this.
_LONGEST = 16


def find_output(known: ScriptState, script: Script) -> Content:
    """What `$(script)` becomes."""
    return _join_outputs(known, script, 0, len(script.items))


def find_stdin(known: ScriptState, script: Script, simple: Simple) -> Content | None:
    """What a command reads; None if nothing is said about that."""
    for redirect in reversed(simple.redirects):
        target = redirect.target
        if isinstance(target, Heredoc):
            # Letter by letter as it stands there, unless something was expanded.
            verbatim = not target.pieces and not target.strip
            origin = cut_origin(script.origin, target.start, target.end)
            text = known.expand_heredoc(target, script.text)
            return Content(text, origin=origin if verbatim else None)
        if redirect.operator == "<<<":
            return Content(known.expand_word(target) + "\n")
        if redirect.operator == "<&" and redirect.descriptor in ("", "0"):
            return Content(opaque="stdin")
        if redirect.operator == "<" and redirect.descriptor in ("", "0"):
            path = known.expand_word(target)
            if path == "/dev/null":
                return _NOTHING
            return known.get_file(path) or Content(opaque="file")
    if simple.stage is None:
        return None
    if known.chain > _LONGEST:
        return Content(opaque="stdin")
    known.chain += 1
    content = _join_outputs(known, script, *simple.stage)
    known.chain -= 1
    return content


def _join_outputs(known: ScriptState, script: Script, first: int, last: int) -> Content:
    """What several commands print together, those in pipes only through the last."""
    items = script.items[first:last]
    if not items or len(items) > _MOST:
        return Content(opaque="stdin") if items else _NOTHING
    piped: set[int] = set()
    for item in items:
        if isinstance(item, Simple) and item.stage and item.stage[0] >= first:
            piped.update(range(*item.stage))
    parts: list[str] = []
    for index, item in enumerate(items, first):
        if not isinstance(item, Simple):
            return Content(opaque="stdin")
        if index in piped or item.role or not item.words:
            continue
        content = find_printed(known, script, item)
        if content.opaque:
            return content
        if len(items) == 1:
            return content
        parts.append(content.text)
    return Content("".join(parts))


def find_printed(known: ScriptState, script: Script, simple: Simple) -> Content:
    """What one command prints."""
    # Long pipelines are followed back again for each of their commands.
    known.budget.count_step(4)
    argv = known.build_argv(simple.words)
    while len(argv) > 1 and argv[0] in _PREFIXES and argv[1][:1] not in ("-", ""):
        argv = argv[1:]
    if not argv:
        return _NOTHING
    name = resolve_program(argv[0])
    say = _SAYING.get(name)
    if say is not None:
        text = say(argv)
        return Content(opaque="stdin") if text is None else Content(text)
    if name in DOWNLOADERS:
        return Content(opaque="download")
    source = find_stdin(known, script, simple)
    if source is not None and source.opaque == "download":
        return source
    if name in DECODERS:
        return Content(opaque="decoded")
    if name in _UNPACKERS:
        return Content(opaque="packed")
    if name in _PASSING:
        return _pass_through(known, argv, source)
    if source is not None and source.opaque in ("decoded", "packed"):
        return source
    return Content(opaque="stdin")


def _pass_through(
    known: ScriptState, argv: list[str], source: Content | None
) -> Content:
    files = [word for word in argv[1:] if word[:1] != "-"]
    if files and argv[0].endswith("cat"):
        if len(files) == 1:
            return known.get_file(files[0]) or Content(opaque="file")
        return Content(opaque="file")
    return source if source is not None else Content(opaque="file")


def _print_echo(argv: list[str]) -> str | None:
    words = argv[1:]
    escapes = newline = True
    # Shells differ on whether echo reads escapes; none differ on hiding words in them.
    while words and re.fullmatch(r"-[neE]+", words[0]):
        newline = newline and "n" not in words[0]
        escapes = "E" not in words[0]
        words = words[1:]
    text = " ".join(words)
    return (decode_ansi(text) if escapes else text) + ("\n" if newline else "")


def _print_printf(argv: list[str]) -> str | None:
    words = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    if not words or words[0] == "-v":
        return None if words else ""
    form, values = decode_ansi(words[0]), words[1:]
    taken = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal taken
        if match[0] == "%%":
            return "%"
        taken += 1
        value = values[taken - 1] if taken <= len(values) else ""
        if match[0].endswith("b"):
            return decode_ansi(value)
        if match[0].endswith("s") or value == "":
            return value
        return value if match[0].endswith("d") and value.isdigit() else UNKNOWN

    parts = [_FORMAT.sub(fill, form)]
    # The format is used again until the arguments are used up.
    while 0 < taken < len(values):
        before = taken
        parts.append(_FORMAT.sub(fill, form))
        if taken == before:
            break
    return "".join(parts)


def _print_last(argv: list[str]) -> str | None:
    words = [word for word in argv[1:] if word[:1] != "-"]
    return words[-1] if words else None


def _print_command(argv: list[str]) -> str | None:
    return _print_last(argv) if argv[1:2] in (["-v"], ["-p"], ["-P"]) else None


def _print_mktemp(argv: list[str]) -> str | None:
    words = argv[1:]
    if any(word.startswith(("-p", "--tmpdir=")) for word in words):
        return None
    name = _print_last(argv)
    if name is None or "-t" in words:
        return "/tmp/tmp.X"  # noqa: S108
    return name


def _print_yes(argv: list[str]) -> str | None:
    return (" ".join(argv[1:]) or "y") + "\n"


def _print_container(argv: list[str]) -> str | None:
    """`docker run -d` prints the name of what it has made."""
    words = argv[1:3]
    return MADE_CONTAINER if "create" in words or "run" in words else None


_SAYING: dict[str, Callable[[list[str]], str | None]] = {
    "echo": _print_echo,
    "printf": _print_printf,
    "which": _print_last,
    "command": _print_command,
    "type": _print_command,
    "realpath": _print_last,
    "readlink": _print_last,
    "mktemp": _print_mktemp,
    "pwd": lambda argv: ".",
    "true": lambda argv: "",
    ":": lambda argv: "",
    "sleep": lambda argv: "",
    "yes": _print_yes,
    "docker": _print_container,
    "podman": _print_container,
}


# Programs that print what they are given, or what somebody else says.
PRINTING = (
    frozenset(_SAYING) | DOWNLOADERS | DECODERS | _UNPACKERS | _PASSING | _PREFIXES
)


def find_opaque_reason(simple: Simple) -> str:
    """Why the words of a command cannot be told: they are printed by one of these."""
    reason = ""
    for word in simple.words:
        for piece in word.pieces if isinstance(word, Word) else ():
            if not isinstance(piece, Substitution):
                continue
            names = {
                resolve_program(item.words[0])
                for item in piece.script.items
                if isinstance(item, Simple) and item.words
                if isinstance(item.words[0], str)
            }
            if names & DOWNLOADERS:
                return "download"
            if names & DECODERS:
                reason = "decoded"
    return reason
