"""What a pipeline reads before a command writes: its files, and whether it is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import (
    Heredoc,
    Script,
    Simple,
    Substitution,
    Word,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# They read the files that they name, and print something else.
_READERS = split_names(
    "cat tac sed awk grep egrep fgrep rg sort uniq cut tr head tail jq yq nl fold fmt rev "
    "column paste join comm iconv expand unexpand envsubst xmllint base64 perl python "
    "prettier sqlformat gunzip zcat xzcat gzip xz openssl git"
)


def list_inputs(script: Script, simple: Simple) -> set[str]:
    """The files that a command and those before it in its pipeline read."""
    return {path for item in _list_stages(script, simple) for path in _list_read(item)}


def _list_stages(script: Script, simple: Simple) -> Iterator[Simple]:
    waiting, begin = [simple], len(script.items)
    while waiting:
        item = waiting.pop()
        yield item
        if item.stage is not None:
            # What stands in a group is seen once, by the group or by itself.
            first, last = item.stage
            found = script.items[first : min(last, begin)]
            waiting += [each for each in found if isinstance(each, Simple)]
            begin = min(first, begin)


def _list_read(item: Simple) -> Iterator[str]:
    for redirect in item.redirects:
        target = redirect.target
        if redirect.operator == "<" and not isinstance(target, Heredoc):
            yield str(target)
    first = item.words[0] if item.words else ""
    name = resolve_program(first) if isinstance(first, str) else ""
    if name not in _READERS:
        return
    words = [word for word in item.words if isinstance(word, str)]
    for word in words[1:]:
        if name != "git":
            yield word
        elif "show" in words and ":" in word:
            yield word.partition(":")[2]


def list_searched_places(walk: Walk, call: ProgramCall) -> list[str]:
    """The folders below which `$(find …)` looks for what the command is given."""
    places: list[str] = []
    for word in call.simple.words:
        for piece in word.pieces if isinstance(word, Word) else ():
            items = piece.script.items[:1] if isinstance(piece, Substitution) else []
            for item in items:
                argv = (
                    walk.known.build_argv(item.words)
                    if isinstance(item, Simple)
                    else []
                )
                if argv and resolve_program(argv[0]) == "find":
                    places += takewhile(lambda each: each[:1] not in "-(!", argv[1:])
    return places


def find_fed(walk: Walk, call: ProgramCall) -> str | None:
    """The text that comes through the pipe, None if that cannot be told."""
    stage = call.simple.stage
    if stage is not None and stage[1] - stage[0] == 1:
        item = call.script.items[stage[0]]
        # A text alone is what PowerShell hands on.
        if isinstance(item, Simple) and item.words == [""]:
            return ""
    if any(
        each.target == "/dev/null"
        for each in call.simple.redirects[:8]
        if each.operator == "<"
    ):
        return ""
    content = walk.find_stdin(call)
    return None if content is None or content.opaque else content.text
