"""Requests that curl and its like send: files, input, substitutions and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.destinations import (
    PASTE,
    is_local,
    is_request_file,
)
from guidance.core.shell_commands.families.pipelines import list_substituted
from guidance.core.shell_commands.families.streams import READING, is_fed, is_secret
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.sensitive.secret_names import is_secret_variable
from guidance.core.shell_commands.shell.tree import Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

REQUESTING = split_names(
    "curl wget http httpie xh aria2c invoke-webrequest invoke-restmethod iwr irm"
)
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
_WHOLE_ENVIRONMENT = (("env",), ("printenv",), ("set",), ("export", "-p"))


def judge_request(walk: Walk, call: ProgramCall) -> None:
    """curl and its like: files, input, substitutions and variables that go along."""
    addresses = [word for word in call.argv[1:] if _ADDRESS.fullmatch(word)]
    addresses += [w.partition("=")[2] for w in call.argv if w.startswith("--url=")]
    if addresses and all(is_local(word) for word in addresses):
        return
    # Windows paths hold backslashes, which another shell takes away.
    cmdlet = call.name in _CMDLETS
    sent = list(_list_sent(walk.report.get_raw_words(call) if cmdlet else call.argv))
    carried = list(list_carried(call))
    secret = any(is_secret(path) for path in sent) or "secret" in carried
    if secret or _carries_secret(walk, call):
        walk.report.add("exfil-secret", call)
    elif sent or "file" in carried:
        piped = any(path in ("-", "/dev/stdin") for path in sent)
        if any(PASTE.search(word) for word in addresses):
            walk.report.add("exfil-paste", call)
        elif (
            (piped and is_fed(walk, call))
            or any(not is_request_file(path) for path in sent if path != "-")
            or "file" in carried
        ):
            walk.report.add("exfil-upload", call)


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


def list_carried(call: ProgramCall) -> Iterator[str]:
    """What substitutions put into the words: the text of a `file`, or a `secret`."""
    for item in list_substituted(*call.simple.words[1:]):
        words = [each for each in item.words if isinstance(each, str)]
        words += [
            redirect.target
            for redirect in item.redirects
            if redirect.operator == "<" and isinstance(redirect.target, str)
        ]
        if any(map(is_secret, words[1:])) or tuple(words) in _WHOLE_ENVIRONMENT:
            yield "secret"
        elif words and resolve_program(words[0]) in READING:
            paths = [word for word in words[1:] if word[:1] != "-"]
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
