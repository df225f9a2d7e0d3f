"""What the guard keeps, read or changed through its own models, tables or tokens."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.guard.rulings import (
    INTERPRETERS,
    list_code,
    list_fed,
)
from guidance.core.shell_commands.families.pipelines import (
    list_feeders,
    shows_no_lines,
)
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_MODELS = compile_byte_pattern(
    r"(?:from|import)\s+(?:reviews|accounts|ledger|gateway|guidance|webhooks|loop|checkrail)(?:\.\w+)*\.(?:models|services|rulings)"
    r"|(?:Review|Ruling|ApiKey|AgentKey|PersonalToken|Membership)\.objects"
    # Their tables, which are called after them.
    r"|\b(?:reviews_(?:review|ruling|permission|grant|exemption)|accounts_(?:agentkey|personaltoken|membership)"
    r"|guidance_policy(?:version|activation|assignment)?)\b"
)
_OPENING = split_names(
    "python manage.py django-admin sqlite3 psql mysql duckdb litecli pgcli"
)
_OF_A_PERSON = "CHECKRAIL_TOKEN"
# They tell whether it is set, not what it is.
_ASKING = split_names("test [ [[")
_TOKENS = re.compile(r"cr[ktp]_")
_SEARCHING = split_names("grep egrep rg strings ag")
_PRINTING_ALL = split_names("env printenv set export declare")
_SECRET_SETTING = re.compile(r"(?!CHECKRAIL_URL\Z)CHECKRAIL(?:_\w+)?", re.IGNORECASE)


def judge_records(walk: Walk, call: ProgramCall) -> None:
    words = call.argv[1:]
    if _takes_token(walk, call):
        found = True
    elif call.name in _OPENING:
        texts = [*words, *list_fed(walk, call)]
        found = any(map(names_records, texts))
    else:
        found = call.name in _SEARCHING and (
            any(map(_TOKENS.search, words)) or _picks_settings(walk, call)
        )
    if found:
        walk.report.add("guard-data", call)


def names_records(text: str) -> bool:
    """Does a statement or a program name what the guard keeps?"""
    return _MODELS.search(encode_one_byte(text)) is not None


def _takes_token(walk: Walk, call: ProgramCall) -> bool:
    """A person's token from the environment: no agent has a use for it."""
    if call.name in _ASKING:
        return False
    if call.name in INTERPRETERS and any(
        _OF_A_PERSON in text for text in list_code(walk, call)
    ):
        return True
    return any(
        isinstance(piece, Variable) and piece.name == _OF_A_PERSON
        for word in call.simple.words[1:]
        if isinstance(word, Word)
        for piece in word.pieces
    )


def _picks_settings(walk: Walk, call: ProgramCall) -> bool:
    """`env | grep CHECKRAIL` shows the key; asking whether it is set does not."""
    feeder = next(list_feeders(call.script, call.simple), None)
    if feeder is None or shows_no_lines(call.argv):
        return False
    argv = walk.known.build_argv(feeder.words)
    return (
        bool(argv)
        and resolve_program(argv[0]) in _PRINTING_ALL
        and any(_SECRET_SETTING.search(word) for word in call.argv[1:])
    )
