"""Database clients: which of their arguments are SQL, and that they read more."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import scan_content
from guidance.core.shell_commands.code.language import JAVASCRIPT
from guidance.core.shell_commands.disposable.scratch_names import (
    is_scratch_name,
)
from guidance.core.shell_commands.paths import is_source, is_temporary
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.sql.databases import describe_database
from guidance.core.shell_commands.unwrap.clients import (
    CLIENTS,
    FILES,
    find_database,
    find_value,
)
from guidance.core.shell_commands.walk import Handler, Walk

# A line that the client itself gives to a shell, or that runs what a query returns.
_META = re.compile(
    r"^[ \t]*(?:\\!|\.shell|\.system|system)[ \t]+([^ \t\n][^\n]*)$", re.MULTILINE
)
# How they reach another one.
_ATTACHES = re.compile(r"\battach\b|^\s*\.(?:open|restore|save|clone)\b", re.I | re.M)
# A line that makes the client read a file.
_SOURCED = re.compile(
    r"^[ \t]*(?:\\(?:i|ir|\.)|source|\.read)[ \t]+([^\s;]+)", re.MULTILINE
)
# The name of a database that people work with.
_PRODUCTION = re.compile(r"(?:^|[/_=.-])(?:prod|production|live)(?:$|[?_-])", re.I)
# A copy, by its folder or by the day it was made.
_OLD_DUMP = re.compile(
    r"(?:(?:^|/)(?:dumps?|backups?|snapshots?|old)/.*|[._-](?:old|bak|backup)|20\d\d-?[01]\d.*)"
    r"\.sql\Z",
    re.IGNORECASE,
)
# A line that sends the output of the client to a file.
_OUTPUT = re.compile(
    r"^[ \t]*(?:\\(?:o|g|out)|\.(?:once|output|excel)|tee|spool)[ \t]+([^\s;|]+)",
    re.MULTILINE,
)
# A line for the client: the next one begins a statement.
_OWN_LINE = re.compile(r"^(\\[^\n]*)\n", re.MULTILINE)
_RUNS_RESULT = re.compile(r"\\gexec\b")
# One of these begins each of them; most statements hold none of them, told by reading
# them once (bench: "rows for a database").
_OWN_COMMANDS = compile_byte_pattern(
    r"\\[!i.og]|(?:^|\n)(?:\\|[ \t]*(?:\.[a-z]|system|source|tee|spool))"
)


def unwrap_client(walk: Walk, call: ProgramCall) -> None:
    kind = CLIENTS[call.name]
    argv = call.argv
    said = False
    taking = {*kind.taking, *kind.flags}
    for index in range(1, len(argv)):
        place, text = _find_sql(argv, index, kind.flags)
        if place:
            said = True
            _run_argument(walk, call, place, text)
    if kind.first >= 0:
        for place in find_operands(argv, taking=taking)[kind.first :]:
            said = True
            _run_argument(walk, call, place, None)
    walk.judge(call)
    if kind.files and (place := find_option_value(argv, *kind.files)):
        _read_file(walk, call, place, kind.files)
    if not said and kind.reads:
        content = walk.find_stdin(call)
        if content is not None:
            read_sql(walk, call, content)


def _read_file(
    walk: Walk, call: ProgramCall, place: int, flags: tuple[str, ...]
) -> None:
    """Statements in a file that this command wrote, or in its input."""
    path = read_attached_value(call.argv[place], *flags) or call.argv[place]
    if path in ("-", "/dev/stdin"):
        content = walk.find_stdin(call)
    else:
        content = walk.known.get_file(path)
    if content is not None:
        read_sql(walk, call, content)


def is_scratch(walk: Walk, call: ProgramCall) -> bool:
    """A database in a file that is temporary, or that this command has made."""
    if call.name not in FILES:
        return False
    places = find_operands(call.argv, taking=CLIENTS[call.name].taking)
    path = call.argv[places[0]] if places else ":memory:"
    return (
        path in (":memory:", "")
        or path.removeprefix("./") in walk.known.made
        or is_temporary(path, folder=walk.known.folder)
        or is_scratch_name(path.rpartition("/")[2])
    )


def _find_sql(
    argv: list[str], index: int, flags: tuple[str, ...]
) -> tuple[int, str | None]:
    """The place of SQL behind a flag; its text if it is attached to the flag."""
    word = argv[index]
    for flag in flags:
        if word == flag:
            return (index + 1, None) if index + 1 < len(argv) else (0, None)
        if flag.startswith("--"):
            if word.startswith(flag + "="):
                return index, word[len(flag) + 1 :]
        elif len(flag) == 2 and word.startswith(flag) and " " in word:
            return index, word[2:]
        elif _is_bundled(word, flag) and index + 1 < len(argv):
            return index + 1, None
    return 0, None


def _is_bundled(word: str, flag: str) -> bool:
    """`-qAtc` ends with -c."""
    return (
        len(flag) == 2
        and word[:1] == "-"
        and word[1:].isalpha()
        and word.endswith(flag[1])
    )


def _run_argument(walk: Walk, call: ProgramCall, place: int, text: str | None) -> None:
    via = (*call.via, call.name)
    if text is None:
        read_text(
            walk,
            call,
            Content(call.argv[place], origin=walk.report.make_origin(call, place)),
        )
    else:
        origin = walk.report.make_whole_origin(call)
        walk.walk_sql(text, origin=origin, via=via, database=find_database(call))


def read_sql(walk: Walk, call: ProgramCall, content: Content) -> None:
    """What a client reads from its input."""
    if content.opaque:
        # A file is as good as -f; anything else is put together on the way.
        if find_database(call).is_test:
            return
        if content.opaque not in ("file", "packed"):
            walk.report.add_opaque("opaque-sql", call)
        elif any(_PRODUCTION.search(word) for word in call.argv[1:]) or (
            _is_old_dump(call) and not find_database(call).is_local
        ):
            walk.report.add("database-restore", call)
        return
    read_text(walk, call, content)


def _is_old_dump(call: ProgramCall) -> bool:
    """`< dumps/shop-2023-01.sql`: a copy of what the database once was."""
    return any(
        each.operator == "<"
        and isinstance(each.target, str)
        and _OLD_DUMP.search(each.target) is not None
        and not is_temporary(each.target)
        for each in call.simple.redirects
    )


def read_text(walk: Walk, call: ProgramCall, content: Content) -> None:
    origin = content.origin or walk.report.make_whole_origin(call)
    via = (*call.via, call.name)
    database = find_database(call)
    text = content.text
    if _OWN_COMMANDS.search(encode_one_byte(text)) is not None:
        _follow_own_commands(walk, call, content)
        text = _OWN_LINE.sub(r"\1;", text)
    if is_scratch(walk, call) and not _ATTACHES.search(content.text):
        return
    walk.walk_sql(text, origin=origin, via=via, database=database)


def _follow_own_commands(walk: Walk, call: ProgramCall, content: Content) -> None:
    """Lines for the client itself: files it reads and writes, shells it starts."""
    origin = content.origin or walk.report.make_whole_origin(call)
    via = (*call.via, call.name)
    database = find_database(call)
    for path in _SOURCED.findall(content.text):
        written = walk.known.get_file(path)
        if written is not None and not written.opaque and written != content:
            walk.walk_sql(written.text, origin=origin, via=via, database=database)
    for match in _META.finditer(content.text):
        walk.walk_shell(
            match[1], origin=walk.report.make_whole_origin(call), via=(*via, "!")
        )
    for path in _OUTPUT.findall(content.text):
        if is_source(path) and not is_temporary(path, folder=walk.known.folder):
            walk.report.add("overwrite-file", call)
    if _RUNS_RESULT.search(content.text):
        walk.report.add_opaque("opaque-sql", call)


_KEYS = re.compile(r"^[^\w\n]*(?:flushall|flushdb|flush_all|shutdown)\b", re.I | re.M)


def unwrap_keys(walk: Walk, call: ProgramCall) -> None:
    """redis-cli, and nc to a cache: commands come line by line."""
    walk.judge(call)
    content = walk.find_stdin(call)
    if content is not None and not content.opaque and _KEYS.search(content.text):
        walk.report.add("database-flush", call)


def unwrap_mongosh(walk: Walk, call: ProgramCall) -> None:
    """mongosh: JavaScript in --eval, or read."""
    argv = call.argv
    for index, word in enumerate(argv[:-1]):
        if word in ("--eval", "-eval"):
            text, origin = argv[index + 1], walk.report.make_origin(call, index + 1)
            _scan_documents(walk, call, Content(text, origin=origin))
            return
    for word in argv:
        if word.startswith("--eval="):
            _scan_documents(walk, call, Content(word[7:]))
            return
    content = walk.find_stdin(call)
    if content is not None:
        _scan_documents(walk, call, content)


# The same acts, written as a command for the server.
_DOCUMENT_COMMAND = re.compile(
    r"(?:run|admin)Command\s*\(\s*(?:\{\s*)?[\"']?(?:drop|dropDatabase|dropIndexes)\b"
)


def _scan_documents(walk: Walk, call: ProgramCall, content: Content) -> None:
    masked = content.text
    if JAVASCRIPT.masked is not None:
        masked = JAVASCRIPT.masked.sub(lambda match: " " * len(match[0]), masked)
    if JAVASCRIPT.purges.search(masked) or _DOCUMENT_COMMAND.search(content.text):
        if not _is_test_store(call, content.text):
            walk.report.add("document-drop", call)
    else:
        scan_content(walk, call, content, JAVASCRIPT)


def _is_test_store(call: ProgramCall, text: str) -> bool:
    """A document database for tests, and no other one that the script turns to."""
    if "getSiblingDB" in text or "use(" in text or "use " in text:
        return False
    places = find_operands(
        call.argv, taking=("--eval", "--host", "--port", "-u", "-p", "--username")
    )
    name = call.argv[places[0]] if places else ""
    host = find_value(call.argv, ("--host",))
    return describe_database(host, name, undoes_all=False, qualifies=False).is_test


def unwrap_cloud_query(walk: Walk, call: ProgramCall) -> None:
    """aws rds-data --sql, gcloud spanner --sql."""
    for index, word in enumerate(call.argv):
        if word == "--sql" and index + 1 < len(call.argv):
            _run_argument(walk, call, index + 1, None)
        elif word.startswith("--sql="):
            _run_argument(walk, call, index, word[6:])
    walk.judge(call)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(CLIENTS, unwrap_client),
    "redis-cli": unwrap_keys,
    "nc": unwrap_keys,
    "ncat": unwrap_keys,
    "netcat": unwrap_keys,
    "telnet": unwrap_keys,
    "socat": unwrap_keys,
    "mongosh": unwrap_mongosh,
    "aws": unwrap_cloud_query,
}
