"""What the name of a tool says that it does: its verb, and what that is done to."""

from __future__ import annotations

import re
from typing import NamedTuple

from guidance.core.shell_commands.word_lists import split_names

# `deleteFile`, `delete_file`, `drop-collection` and `files.delete` are words.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

DESTROYING = split_names(
    "delete del destroy drop purge terminate wipe erase truncate teardown remove rm unlink "
    "uninstall unpublish revoke prune flush flushdb flushall shred expunge deprovision decommission "
    "deregister unregister"
)
# These destroy only what holds data: a view or a form is reset all day.
_EMPTYING = split_names("reset clear empty format")
_HOLDING_DATA = split_names(
    "branch database db schema table collection index bucket queue topic project "
    "environment cluster instance disk volume device storage store data records rows "
    "logs state repository repo workspace factory all trash pg"
)
# The first verb counts: get_delete_status only reads.
_OTHERS = split_names(
    "get list read search find query describe show view fetch count check validate preview "
    "plan estimate simulate diff is can has create add insert update set put upsert write "
    "edit modify rename move copy upload download import export sync run execute start "
    "stop restart open close cancel send post reply archive unarchive restore undelete "
    "recover enable disable approve reject merge commit push pull checkout apply deploy "
    "scale watch wait subscribe publish schedule drag soft"
)
# Made again in a moment, or the agent's own: nobody wants to be asked.
_LIGHT = split_names(
    "draft label tag reaction assignee reviewer watcher star favorite favourite pin "
    "bookmark highlight filter selection breakpoint cookie tab window page browser popup "
    "tooltip listener mock cell line text character word element shape layer node style "
    "class attribute memory entity observation relation thought todo cache console "
    "terminal shell process session screen canvas cart reminder timer subscription"
)
# Names of what other people work with.
PRODUCTION = re.compile(
    r"(?:.*[-_/.@])?(?:prod|production|prd|live)(?:[-_/.].*)?", re.IGNORECASE
)


# What these servers have is a view of something, and closed in a moment.
_LIGHT_SERVERS = split_names(
    "browser playwright puppeteer chrome devtools debugger ide"
)

_PUBLISHERS = split_names("notion confluence wiki cms wordpress sharepoint ghost")
_PAGES = {"page": "article", "pages": "articles"}


# What takes money from somebody, and servers whose other verbs do so as well.
_PAYING = split_names("refund payout withdraw withdrawal disburse disbursement wire")
_MONEY_SERVERS = split_names(
    "stripe paypal paddle chargebee braintree adyen square wise recurly billing payments "
    "payment payroll bank"
)
_ENDING = split_names("cancel void capture transfer pay send charge")
_READING = split_names(
    "get list read search find query describe show view fetch count check retrieve draft "
    "preview estimate simulate calculate"
)
# Put away with all that is in it; most of them leave no way back to the agent.
_SHELVED = split_names("database project repository repo workspace environment site")


class ToolName(NamedTuple):
    server: list[str]
    words: list[str]


class ToolVerb(NamedTuple):
    verb: str
    objects: tuple[str, ...]


def split_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def read_tool_name(tool: str) -> ToolName:
    """Of `mcp__server__tool` only the tool itself says what is done."""
    server, _, name = tool.rpartition("__")
    return ToolName(split_words(server) if server else [], split_words(name))


def find_destroying_verb(tool: ToolName) -> ToolVerb | None:
    """The verb of a tool that destroys, None if its name does not say so."""
    if not _LIGHT_SERVERS.isdisjoint(tool.server):
        return None
    words = tool.words
    if not _PUBLISHERS.isdisjoint(tool.server):
        # A page there is what somebody has written, not what is shown just now.
        words = [_PAGES.get(word, word) for word in words]
    return find_verb(words)


def pays(tool: ToolName) -> bool:
    """Does its name say that money goes out, or that somebody's plan ends?"""
    words = tool.words
    singular = {_drop_plural(word) for word in words}
    if not _READING.isdisjoint(words):
        return False
    if not _PAYING.isdisjoint(singular):
        return True
    return words[:1] != [] and (
        words[0] in _ENDING and not _MONEY_SERVERS.isdisjoint(tool.server)
    )


def find_verb(words: list[str]) -> ToolVerb | None:
    for place, word in enumerate(words):
        if word == "archive" and place == 0:
            shelved = {_drop_plural(each) for each in words[1:]} & _SHELVED
            return ToolVerb(word, tuple(words[1:])) if shelved else None
        if word in _OTHERS:
            return None
        if word in DESTROYING or word in _EMPTYING:
            if word in _EMPTYING and not _OTHERS.isdisjoint(words):
                return None
            if words[place : place + 2] == ["drop", "down"]:
                return None
            objects = (*words[:place], *words[place + 1 :])
            return ToolVerb(word, objects) if _is_destroying(word, objects) else None
    return None


def _is_destroying(verb: str, objects: tuple[str, ...]) -> bool:
    singular = {_drop_plural(word) for word in objects}
    if not singular.isdisjoint(_LIGHT):
        return False
    return verb in DESTROYING or not (
        _HOLDING_DATA.isdisjoint(singular) and _HOLDING_DATA.isdisjoint(objects)
    )


def _drop_plural(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word if word.endswith("ss") else word.removesuffix("s")
