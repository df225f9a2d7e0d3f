"""Secrets given to a name: in code, env files, YAML, JSON, INI, TOML, XML and flags.

One pattern finds the places in linear time; only there the value is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import Span, compile_byte_pattern
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.names import Promise, read_promise
from guidance.core.secrets.scanners.assigned_value import Place, find_assigned_value
from guidance.core.secrets.surroundings import Surroundings

_NAME_LIMIT = 80
_PRICE_OF_NAME = 15
_PRICE_OF_VALUE = 30

_KEY_SORTS = (
    "api|access|private|secret|sign(?:ing)?|encrypt(?:ion)?|crypto|auth|master|account"
    "|service|app(?:lication)?|storage|shared|subscription|license|session|hmac|jwt"
    "|cipher|ssh|deploy|consumer|root|admin|server|write|host|function|aes|webhook"
    "|ingest|merchant|client|gpg|pgp|tls|ssl"
)
_NOUNS = (
    "passw(?:or)?d|passwort|passphrase|passcode|pwd|secret(?:[_. -]?key[_-]?base)?"
    "|token|credentials?|creds?|authorization|bearer|j?sessionid"
    rf"|(?:{_KEY_SORTS})[_. -]?key"
    "|(?:db|user|root|admin|my|ftp|smtp|mail|mysql|ssh)(?:pass|pw)"
)
_TRAILER = (
    "(?:[_-]?(?:prod(?:uction)?|dev(?:elopment)?|test(?:ing)?|stag(?:e|ing)|live|old|new"
    "|value|b64|base64|plain(?:text)?|raw|str(?:ing)?|text|env|default|current"
    "|[0-9]{1,2}))?"
)
# What stands between a name and its value. Where `open` is found, it is the value's
# own opening quote.
_GIVEN = (
    r"(?P<closed>(?:\\?[\"'`])?\]?(?:\[[0-9]*\])?)"
    r"(?:(?P<typed>[ \t]*:[ \t]*[A-Za-z_&'<][A-Za-z0-9_.&<>|\[\] ]{0,30}[ \t]=[ \t]*"
    r"|[ \t]+(?:string|str|&str|char ?\*?)[ \t]*=[ \t]*)"
    r"|(?P<pair>[ \t]*[,;]?[ \t]*\r?\n?[ \t]*[\"']?(?:value|content|default)[\"']?"
    r"[ \t]*[:=][ \t]*)"
    r"|(?P<block>[ \t]*:[ \t]*[|>][+-]?[ \t]*\r?\n[ \t]+)"
    r"|(?P<sign>[ \t]*(?::=|=>|={1,3}|:)[ \t]*)"
    r"|(?P<tag>>)"
    r"|(?P<comma>,[ \t]*)(?P<open1>[\"'])"
    r"|(?P<call>[ \t]*\([ \t]*|[ \t]+(?:is[ \t]+)?)(?P<open2>[\"']))"
)
# As a word of its own, or as the last hump of a name.
_SHORT = "(?:^|[^A-Za-z])(?:pass|pw|auth)|(?-i:[a-z0-9](?:Pass|Pw|Auth))"
ASSIGNED = compile_byte_pattern(
    f"(?:{_NOUNS}|{_SHORT}){_TRAILER}{_GIVEN}", ignore_case=True
)
_BETWEEN = re.compile(_GIVEN, re.IGNORECASE)
_READ_AS = ("typed", "pair", "block", "tag", "comma", "call")
# --password hunter, ENV PASSWORD hunter, login x password hunter: only a space between.
_NAMED = rf"(?:{_NOUNS}|pass|pw|auth){_TRAILER}[ \t]"
_LOGIN = r"login[ \t\n]+[^ \t\n]+[ \t\n]+"
_SPACED = compile_byte_pattern(
    r"(?:(?:^|[ \t\n\"'])--?(?:[A-Za-z0-9]+[_-])*"
    r"|(?:^|\n)[ \t]*(?:ENV|ARG|setx|set -g?x)[ \t]+(?:[A-Za-z0-9]+_)*"
    rf"|{_LOGIN}){_NAMED}+",
    ignore_case=True,
)
# Without it there is no such name.
SPACE_NAMED = compile_byte_pattern(
    rf"(?:[_-]|{_LOGIN}){_NAMED}"
    r"|(?:^|\n)[ \t]*(?:ENV|ARG|setx|set -g?x)[ \t]",
    ignore_case=True,
)
_NAME_PARTS = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
)


def scan_assignments(
    text: str, data: bytes, effort: Effort, around: Surroundings
) -> Iterator[Hit]:
    """Every value given to a name that promises a secret."""
    promises: dict[str, Promise | None] = {}
    for pattern, read in ((ASSIGNED, _place_after_sign), (_SPACED, _place_after_space)):
        position = 0
        while found := pattern.search(data, position):
            effort.spend(_PRICE_OF_NAME)
            position = found.end
            place = read(text, data, found)
            if place is None:
                continue
            name = text[place.name : place.name_end]
            if name not in promises:
                promises[name] = read_promise(name)
            promised = promises[name]
            if promised is None:
                continue
            effort.spend(_PRICE_OF_VALUE)
            value = find_assigned_value(text, place, promised)
            if value is not None:
                position = max(position, value.end)
                if around.is_harmless(*value, name=name):
                    continue
                yield Hit(value.start, value.end, promised.kind, value.start)


def _place_after_sign(text: str, data: bytes, found: Span) -> Place | None:
    start = found.start
    while data[start] not in _NAME_PARTS:
        start += 1
    name_end = start
    while data[name_end] in _NAME_PARTS:
        name_end += 1
    between = _BETWEEN.match(text, name_end)
    if between is None:
        return None
    sign = between["sign"]
    if sign is None:
        sign = next(name for name in _READ_AS if between[name] is not None)
    value = between.end() - (1 if between["open1"] or between["open2"] else 0)
    return Place(
        _find_name_start(data, start), name_end, value, sign, between["closed"]
    )


def _place_after_space(text: str, data: bytes, found: Span) -> Place | None:
    name_end = found.end
    while data[name_end - 1] not in _NAME_PARTS:
        name_end -= 1
    return Place(_find_name_start(data, name_end), name_end, found.end, " ", "")


def _find_name_start(data: bytes, start: int) -> int:
    least = max(0, start - _NAME_LIMIT)
    while start > least and data[start - 1] in _NAME_PARTS:
        start -= 1
    return start
