"""What a simple command is connected with: scripts inside it, the pipe before it."""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.shell_commands.shell.tree import (
    Heredoc,
    Piece,
    Script,
    Simple,
    Substitution,
    Variable,
    Word,
)


def list_nested_scripts(simple: Simple) -> Iterator[tuple[Script, str]]:
    """The scripts in its words, assignments and redirections."""
    for assignment in simple.assignments:
        value = assignment.value
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, Word):
                yield from _list_scripts(word.pieces)
    for word in simple.words:
        if isinstance(word, Word):
            yield from _list_scripts(word.pieces)
    for redirect in simple.redirects:
        if isinstance(redirect.target, Word | Heredoc):
            yield from _list_scripts(redirect.target.pieces)


def _list_scripts(pieces: tuple[Piece, ...]) -> Iterator[tuple[Script, str]]:
    for piece in pieces:
        if isinstance(piece, Substitution):
            yield piece.script, "<(…)" if piece.process else "$(…)"
        elif isinstance(piece, Variable) and piece.argument:
            yield from _list_scripts(piece.argument)


def reads_from(name: str, script: Script, simple: Simple) -> bool:
    """Does its pipe come from a command of this name?"""
    stage = slice(*simple.stage) if simple.stage else slice(0)
    return any(
        isinstance(item, Simple) and item.words[:1] == [name]
        for item in script.items[stage]
    )
