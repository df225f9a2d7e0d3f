"""Data hidden in names that are looked up, or in the packets of a ping."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.requests import list_carried
from guidance.core.shell_commands.sensitive.secret_names import is_secret_variable
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Substitution,
    Variable,
    Word,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

LOOKING_UP = split_names("dig nslookup host drill ping getent resolvectl")
_OUTSIDE_NAME = re.compile(r"\.[\w-]+\.[a-z]{2,}\.?\Z|\.[a-z]{3,}\Z")
_INSIDE_NAME = re.compile(r"\.(?:local|internal|svc|test|localhost)\.?\Z")


def judge_lookup(walk: Walk, call: ProgramCall) -> None:
    """Data glued to the front of a name, or put into the packets of a ping."""
    if call.name == "ping" and "-p" in call.argv and any(list_carried(call)):
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


def _is_computed(walk: Walk, piece: object) -> bool:
    if isinstance(piece, Substitution):
        return True
    if not isinstance(piece, Variable):
        return False
    known = walk.known.variables.get(piece.name)
    return (known is not None and any(UNKNOWN in value for value in known)) or (
        known is None and is_secret_variable(piece.name)
    )
