"""What a program sends to the network, and where that comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.destinations import (
    PASTE,
    is_local,
    is_request_file,
)
from guidance.core.shell_commands.families.environment import list_secret_variables
from guidance.core.shell_commands.families.pipelines import list_feeders
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.sensitive.secret_names import is_secret_variable
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Simple,
    Substitution,
    Variable,
    Word,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

REQUESTING = split_names(
    "curl wget http httpie xh aria2c invoke-webrequest invoke-restmethod iwr irm"
)
STREAMING = split_names("nc ncat netcat openssl telnet ssh socat")
LOOKING_UP = split_names("dig nslookup host drill ping getent resolvectl")
_ADDRESS = re.compile(
    r"[a-z]+://.*|[\w.-]+\.[\w-]+(?::\d+)?(?:/.*)?|localhost\S*|:\d+\S*",
    re.IGNORECASE,
)
_FILE_VALUE = re.compile(r"(?:[^=@<]*=)?[@<](.+)|[\w.-]*@(.+)")
_BODY = (
    "-d",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-ascii",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
)
# An option and its file in one word: -d@list.csv, -Tdump.sql.
_JOINED_FILE = re.compile(r"-[a-zA-Z]*[dF]@|-[a-zA-Z]*T[./\w~]")
# httpie and its like: `@dump.sql` alone, `list@a.csv`, `list=@a.csv`.
_FIELD_CLIENTS = ("http", "https", "httpie", "xh")
_FIELD_FILE = re.compile(r"(?:[\w.-]+=?|:)?@\S+")
_CMDLETS = split_names("invoke-webrequest invoke-restmethod iwr irm")
_UPLOADS = ("-T", "--upload-file", "--post-file", "--body-file", "-infile")
# A header or a parameter that is there to carry a secret.
_EXPECTED = re.compile(
    r"authorization|api[-_]?key|[-_]token\b|\btoken=|\bkey=|access_token|x-auth|secret=|password=|passwd=|cookie|bearer|client_secret|apikey|[-_]key\s*[:=]|private-token|^-u|user",
    re.IGNORECASE,
)
_STRUCTURED = re.compile(
    r".*\.(?:json|graphql|xml|ya?ml|ndjson|txt|sql|html)", re.IGNORECASE
)
# What stores its input on the other side; what waits for others, or only knocks.
_STORING = re.compile(r"cat\s*>|tee\s|tar\s+\S*x|dd\s+of=|cat$")
_SOCKET_END = re.compile(
    r"(?:tcp|udp|openssl|ssl|sctp)[46]?(?:-connect)?:([\w.-]+)", re.IGNORECASE
)
_LISTENING = re.compile(r"-[a-z]*[lz][a-z]*")
_OUTSIDE_NAME = re.compile(r"\.[\w-]+\.[a-z]{2,}\.?\Z|\.[a-z]{3,}\Z")
_INSIDE_NAME = re.compile(r"\.(?:local|internal|svc|test|localhost)\.?\Z")
_HARMLESS_FEEDERS = split_names("echo printf jq yes true seq date")
_READING = split_names(
    "cat base64 base32 xxd od head tail tar gzip zip gpg openssl env printenv strings less sed awk grep"
)
_WHOLE_ENVIRONMENT = (("env",), ("printenv",), ("set",), ("export", "-p"))
_ACCOUNTS = ("/etc/passwd", "/etc/group")


def judge_request(walk: Walk, call: ProgramCall) -> None:
    """curl and its like: files, input, substitutions and variables that go along."""
    addresses = [word for word in call.argv[1:] if _ADDRESS.fullmatch(word)]
    addresses += [w.partition("=")[2] for w in call.argv if w.startswith("--url=")]
    if addresses and all(is_local(word) for word in addresses):
        return
    # Windows paths hold backslashes, which another shell takes away.
    cmdlet = call.name in _CMDLETS
    sent = list(_list_sent(walk.report.get_raw_words(call) if cmdlet else call.argv))
    carried = list(_list_carried(call))
    secret = any(_is_secret(path) for path in sent) or "secret" in carried
    if secret or _carries_secret(walk, call):
        walk.report.add("exfil-secret", call)
    elif sent or "file" in carried:
        piped = any(path in ("-", "/dev/stdin") for path in sent)
        if any(PASTE.search(word) for word in addresses):
            walk.report.add("exfil-paste", call)
        elif (
            (piped and _is_fed(walk, call))
            or any(not is_request_file(path) for path in sent if path != "-")
            or "file" in carried
        ):
            walk.report.add("exfil-upload", call)


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


def judge_lookup(walk: Walk, call: ProgramCall) -> None:
    """Data glued to the front of a name, or put into the packets of a ping."""
    if call.name == "ping" and "-p" in call.argv and any(_list_carried(call)):
        walk.report.add("exfil-dns", call)
        return
    for word in call.simple.words[1:]:
        if not isinstance(word, Word) or len(word.pieces) < 2:
            continue
        tail = word.pieces[-1]
        if not (isinstance(tail, str) and _OUTSIDE_NAME.search(tail)):
            continue
        if _INSIDE_NAME.search(tail):
            continue
        if any(_is_computed(walk, piece) for piece in word.pieces):
            walk.report.add("exfil-dns", call)
            return


def judge_socket(walk: Walk, call: ProgramCall, path: str) -> None:
    """`> /dev/tcp/host/port`."""
    host = path.split("/")[3] if path.count("/") > 3 else ""
    if is_local(host):
        return
    if any(find_secret_rule(word) or word in _ACCOUNTS for word in call.argv[1:]):
        walk.report.add_whole("exfil-secret", call)
    elif resolve_program(call.argv[0]) in _READING if call.argv else False:
        walk.report.add_whole("exfil-upload", call)


def _is_computed(walk: Walk, piece: object) -> bool:
    if isinstance(piece, Substitution):
        return True
    if not isinstance(piece, Variable):
        return False
    known = walk.known.variables.get(piece.name)
    return (known is not None and any(UNKNOWN in value for value in known)) or (
        known is None and is_secret_variable(piece.name)
    )


def judge_fed_input(walk: Walk, call: ProgramCall) -> str:
    """Which rule what it reads breaks, if any."""
    for redirect in call.simple.redirects:
        if redirect.operator == "<" and isinstance(redirect.target, str | Word):
            path = walk.known.expand_word(redirect.target)
            if path == "/dev/null":
                return ""
            return "exfil-secret" if _is_secret(path) else "exfil-upload"
    if call.simple.stage is None:
        return ""
    for feeder in list_feeders(call.script, call.simple):
        argv = walk.known.build_argv(feeder.words)
        if any(_is_secret(word) for word in argv[1:]) or list_secret_variables(
            walk, feeder
        ):
            return "exfil-secret"
    return "exfil-upload" if _is_fed(walk, call) else ""


def _is_fed(walk: Walk, call: ProgramCall) -> bool:
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


def _list_sent(argv: list[str]) -> Iterator[str]:
    for index, word in enumerate(argv[1:], 1):
        name, equals, value = word.partition("=")
        if name in _UPLOADS or name.lower() == "-infile":
            yield value if equals else "".join(argv[index + 1 : index + 2])
        elif name in _BODY:
            given = (
                value
                if equals and name.startswith("--")
                else "".join(argv[index + 1 : index + 2])
            )
            found = _FILE_VALUE.fullmatch(given)
            if found:
                yield (found[1] or found[2]).partition(";")[0]
        elif _JOINED_FILE.match(word):
            yield word.partition("@")[2] or word.partition("T")[2]
        elif argv[0].endswith(_FIELD_CLIENTS) and _FIELD_FILE.fullmatch(word):
            yield word.rpartition("@")[2]


def _list_carried(call: ProgramCall) -> Iterator[str]:
    """What substitutions put into the words: the text of a file, or a secret."""
    for word in call.simple.words[1:]:
        for piece in word.pieces if isinstance(word, Word) else ():
            if not isinstance(piece, Substitution):
                continue
            for item in piece.script.items[:32]:
                if not isinstance(item, Simple) or not item.words:
                    continue
                words = [each for each in item.words if isinstance(each, str)]
                words += [
                    redirect.target
                    for redirect in item.redirects
                    if redirect.operator == "<" and isinstance(redirect.target, str)
                ]
                if any(_is_secret(each) for each in words[1:]) or (
                    tuple(words) in _WHOLE_ENVIRONMENT
                ):
                    yield "secret"
                elif words and resolve_program(words[0]) in _READING and len(words) > 1:
                    paths = [w for w in words[1:] if w[:1] != "-"]
                    if any(not _STRUCTURED.fullmatch(path) for path in paths):
                        yield "file"


def _carries_secret(walk: Walk, call: ProgramCall) -> bool:
    """A secret variable where no service would expect one."""
    if call.first < 0:
        return False
    for index, word in enumerate(call.simple.words[1:], 1):
        if not isinstance(word, Word):
            continue
        names = [
            p.name
            for p in word.pieces
            if isinstance(p, Variable) and is_secret_variable(p.name)
        ]
        if not names or all(name in walk.known.variables for name in names):
            continue
        before = call.simple.words[index - 1]
        text = "".join(piece for piece in word.pieces if isinstance(piece, str))
        context = f"{before if isinstance(before, str) else ''} {text}"
        if not _EXPECTED.search(context):
            return True
    return False


def _is_secret(path: str) -> bool:
    return bool(find_secret_rule(path)) or path in _ACCOUNTS
