"""What is connected with a command: who reads it, who feeds it, what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.sensitive.secret_names import is_hunting
from guidance.core.shell_commands.shell.tree import Script, Simple, Substitution, Word
from guidance.core.shell_commands.walk import Walk

# Programs that get a secret on their input and keep it to themselves.
_TAKING_SECRETS = re.compile(
    r"--(?:password|pass|token)-?stdin|--with-token|--password-file|-password-stdin|login|--passphrase-fd"
)
_COUNTING = frozenset(
    ("wc", "sha256sum", "sha1sum", "md5sum", "shasum", "cksum", "b2sum")
)
_QUIET = re.compile(
    r"-[a-zA-Z]*[cqlL][a-zA-Z]*|--(?:count|quiet|silent|files-with-matches)"
)
_SEARCHING = frozenset(
    ("grep", "egrep", "fgrep", "rg", "ag", "ack", "findstr", "select-string")
)
_FIRST_FIELD = re.compile(r"-f ?1(?:,1)?\Z|-f1\b")
_MASKING = re.compile(r"=\.[*+]|=\[\^|\{ *print \$1 *\}|\bkeys\b|to_entries\[\]\.key")
_LOADING = re.compile(r"(?:^|[\s;&|(])(?:export|env|declare -x|eval)\s+[\"']?\Z")
_USED = re.compile(
    r"(?:\w=|bearer |token |basic |token=|:|--password[= ]|-u )[\"']?\Z", re.IGNORECASE
)
_FAR = 64
_SECRET_WORDS = tuple(
    re.compile(rf"(?:^|[|(\s]){word}", re.IGNORECASE)
    for word in ("token", "secret", "key|api_?key", "pass")
)


def find_reader(script: Script, simple: Simple) -> Simple | None:
    """The command that reads what this one prints."""
    index = next(
        (place for place, item in enumerate(script.items) if item is simple), -1
    )
    if index < 0:
        return None
    for item in script.items[index + 1 :]:
        if (
            isinstance(item, Simple)
            and item.stage
            and item.stage[0] <= index < item.stage[1]
        ):
            return item
    return None


def list_feeders(script: Script, simple: Simple) -> Iterator[Simple]:
    """The commands of the pipe before it, nearest first."""
    while simple.stage is not None:
        items = [
            item
            for item in script.items[slice(*simple.stage)]
            if isinstance(item, Simple)
        ]
        yield from reversed(items)
        if not items:
            return
        simple = items[0]


def list_substituted(*words: str | Word) -> Iterator[Simple]:
    """The commands whose output stands in these words."""
    for word in words:
        for piece in word.pieces if isinstance(word, Word) else ():
            if isinstance(piece, Substitution):
                for item in piece.script.items:
                    if isinstance(item, Simple):
                        yield item


def is_kept_private(walk: Walk, call: ProgramCall) -> bool:
    """The secret is used or counted, or names alone are shown: nobody sees its value."""
    if _is_used_in_place(call):
        return True
    reader = find_reader(call.script, call.simple)
    if reader is None:
        return False
    argv = walk.known.build_argv(reader.words)
    if not argv:
        return False
    name = resolve_program(argv[0])
    rest = " ".join(argv[1:])
    if name in _COUNTING or _TAKING_SECRETS.search(rest):
        return True
    if name == "xargs" and _is_loaded(call):
        return True
    if name == "sort" and _is_filter_after(walk, call, reader):
        return True
    return shows_names_alone(name, argv)


def _is_filter_after(walk: Walk, call: ProgramCall, reader: Simple) -> bool:
    """`env | sort | grep …`: what the next one leaves of it."""
    following = find_reader(call.script, reader)
    argv = walk.known.build_argv(following.words) if following is not None else []
    return bool(argv) and shows_names_alone(resolve_program(argv[0]), argv)


def is_hunted(walk: Walk, call: ProgramCall) -> bool:
    """Is a secret picked from what it prints?"""
    reader = find_reader(call.script, call.simple)
    return reader is not None and any(
        is_hunting(word) for word in walk.known.build_argv(reader.words)[1:]
    )


def shows_names_alone(name: str, argv: list[str]) -> bool:
    """A filter that leaves out the values, or asks for something harmless by its name."""
    rest = " ".join(argv[1:])
    if name in _SEARCHING:
        return (
            shows_no_lines(argv) or _leaves_secrets_out(argv) or _asks_for_names(argv)
        )
    if name == "cut":
        return bool(_FIRST_FIELD.search(rest)) and "=" in rest
    if name in ("sed", "awk", "jq", "yq", "perl"):
        return _MASKING.search(rest) is not None
    return False


def shows_no_lines(argv: list[str]) -> bool:
    """A search that only counts, or names the files."""
    return any(map(_QUIET.fullmatch, argv[1:]))


def _leaves_secrets_out(argv: list[str]) -> bool:
    """grep -v of all the names that secrets go by, in capitals or not."""
    flags = "".join(word for word in argv[1:] if re.fullmatch("-[a-zA-Z]+", word))
    text = " ".join(word for word in argv[1:] if word[:1] != "-")
    if "v" not in flags or ("i" not in flags and not text.isupper()):
        return False
    return all(each.search(text) for each in _SECRET_WORDS)


def _asks_for_names(argv: list[str]) -> bool:
    """`grep ^PORT=` shows one harmless line; `grep .` and `grep -v ^#` show all."""
    words = [word for word in argv[1:] if word[:1] != "-"]
    if not words or any(
        word[:1] == "-" and "v" in word and word[1:2] != "-" for word in argv[1:]
    ):
        return False
    pattern = words[0]
    letters = sum(letter.isalpha() for letter in pattern)
    return letters >= 3 and ".*" not in pattern and not is_hunting(pattern)


def _is_loaded(call: ProgramCall) -> bool:
    return _LOADING.search(_get_text_before(call)) is not None


def _is_used_in_place(call: ProgramCall) -> bool:
    """`export $(…)`, `TOKEN=$(…)`, `Bearer $(…)`: a program gets it, nobody sees it."""
    before = _get_text_before(call)
    return (
        bool(before) and (_LOADING.search(before) or _USED.search(before)) is not None
    )


def _get_text_before(call: ProgramCall) -> str:
    """What stands before the `$(` that the command is in."""
    if not call.via or call.via[-1] != "$(…)":
        return ""
    text = call.script.text
    start = text.rfind("$(", max(0, call.simple.start - 400), call.simple.start + 1)
    return text[max(0, start - _FAR) : start] if start >= 0 else ""
