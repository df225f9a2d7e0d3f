"""Passwords on command lines and in SQL, where no name stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from guidance.core.effort import Effort
from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.limits import CHARACTERS_FOR_ONE
from guidance.core.secrets.names import Promise
from guidance.core.secrets.scanners.command_line import LINE_LIMIT, find_command_end
from guidance.core.secrets.surroundings import Surroundings
from guidance.core.secrets.values import is_secret_value

_STRONG = Promise("password", strong=True)
_PRICE_OF_NAME = 4
_PRICE_OF_VALUE = 20
_PRICE_OF_LINE = 40

_PLAIN = r"[^\s\"']+"
_VALUE = rf"(?:\"([^\"\n]+)|'([^'\n]+)|({_PLAIN}))"
_USER_FLAGS = "-u|-U|--user|--proxy-user|--auth|-a"
_USER = rf"\s(?:{_USER_FLAGS})(?:\s*|=)[\"']?(?:[^\s:\"'$-][^\s:\"']*)?:{_VALUE}"
# -p and its password are one word; -p alone asks for it, and -p- is another option.
_MYSQL = rf"\s-p(?:\"([^\"\n]+)|'([^'\n]+)|([^\s\"'-](?:{_PLAIN})?))"

# The command, what its line holds at least, and how it holds a password.
_COMMANDS = {
    "mysql": ("-p", _MYSQL),
    "mysqldump": ("-p", _MYSQL),
    "mysqladmin": ("-p", _MYSQL),
    "mariadb": ("-p", _MYSQL),
    "mariadb-dump": ("-p", _MYSQL),
    "sshpass": ("-p", rf"\s-p\s*{_VALUE}"),
    "redis-cli": ("-a", rf"\s-a\s+{_VALUE}"),
    "7z": ("-p", rf"\s-p{_VALUE}"),
    "zip": ("-P", rf"\s-P\s+{_VALUE}"),
    "unzip": ("-P", rf"\s-P\s+{_VALUE}"),
    "ldapsearch": ("-w", rf"\s-w\s+{_VALUE}"),
    "smbclient": ("%", rf"\s-U\s+[^\s%]+%{_VALUE}"),
    "openssl": ("pass:", rf"\spass:{_VALUE}"),
    "htpasswd": ("b", rf"\s-[A-Za-z]*b[A-Za-z]*\s+\S+\s+\S+\s+{_VALUE}"),
    "curl": (":", _USER),
    "wget": (":", _USER),
    "http": (":", _USER),
    "https": (":", _USER),
    "xh": (":", _USER),
    "net": ("user", rf"net(?:\.exe)?\s+user\s+[^\s/]+\s+{_VALUE}"),
}
_READERS = {
    name: (sign, compile_byte_pattern(form, groups=True))
    for name, (sign, form) in _COMMANDS.items()
}


def _join_alternatives(names: Iterable[str]) -> str:
    return rf"(?:^|[\s;&|(/\"'`])(?:{'|'.join(map(re.escape, names))})(?:\.exe)?[ \t]"


_NAMED = compile_byte_pattern(_join_alternatives(_COMMANDS))
# docker is in every other script and seldom logs in.
_LOGS_IN = _join_alternatives(("docker", "podman")) + r"(?:[^|;&\n]*[ \t])?login[ \t]"
_LOGIN = compile_byte_pattern(_LOGS_IN + r"[^|;&\n]*")
_LOGGED_IN = compile_byte_pattern(
    rf"\slogin\s(?:[^|;&\n]*\s)?-p\s*{_VALUE}", groups=True
)
_SQL = compile_byte_pattern(
    r"identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\"'][^\"'\n]+",
    ignore_case=True,
)
_FROM_INPUT = (
    "--password-stdin|--with-token|secrets?[ \t](?:create|put|set|versions)[ \t]"
)
_PIPED = compile_byte_pattern(
    rf"(?:echo|printf)[ \t]+(?:-n[ \t]+|[\"']%s(?:\\n)?[\"'][ \t]+)?[\"']?[^ \t\n|]+"
    rf"[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S|[^\n|]*(?:{_FROM_INPUT})"
    r"|(?:sudo[ \t]+)?chpasswd)"
)
# Without it, and without curl or its like, there is nothing to be found.
_USERS = tuple(name for name, (_, form) in _COMMANDS.items() if form is _USER)
GIVEN = compile_byte_pattern(
    _join_alternatives(sorted(_COMMANDS.keys() - _USERS))
    + rf"|{_LOGS_IN}|(?i:identified\s)"
    rf"|{_FROM_INPUT}|\|[ \t]*(?:sudo[ \t]+-S|(?:sudo[ \t]+)?chpasswd)"
)
USER_NAMED = compile_byte_pattern(_join_alternatives(_USERS))
USER_GIVEN = compile_byte_pattern(rf"\s(?:{_USER_FLAGS})")
_WORD = re.compile(r"[^ \t\r\n\"']*")
# The name of a container or a host, not the command.
_OPTION = re.compile(r"(?:--(?:name|host|hostname|service|network)|-h|-C)[= ]+\s?$")
_OPTION_LIMIT = 16
# Ports of other programs' -p: 8080:80, 127.0.0.1:80:80, T:443, 20-25.
_PORTS = re.compile(
    r"[0-9]{1,5}|[0-9.]*:?[0-9]+(?:-[0-9]+)?:[0-9]+(?:[-/]\w+)?|[TU]:.*"
)
_REST = {quote: re.compile(f"[^\n{quote}]*") for quote in "\"'"}
_ECHOED = re.compile(
    r"(?:echo|printf)[ \t]+(?:-n[ \t]+|[\"']%s(?:\\n)?[\"'][ \t]+)?[\"']?(?:[\w.-]+:)?"
    r"([^ \t\n|\"']+)"
)


def may_hold_flags(text: str) -> bool:
    data = encode_one_byte(text)
    # curl and its like are in every other script, but seldom with a password.
    return GIVEN.search(data) is not None or bool(
        USER_NAMED.search(data) and USER_GIVEN.search(data)
    )


def scan_flags(
    text: str, data: bytes, effort: Effort, around: Surroundings
) -> Iterator[Hit]:
    """Every password that a known command or statement is given."""
    for place in _NAMED.finditer(data):
        effort.spend(_PRICE_OF_NAME)
        name = (
            text[place.start : place.end].strip(" \t\n\r;&|(/\"'`").removesuffix(".exe")
        )
        sign, reader = _READERS[name]
        if text.find(sign, place.end, place.end + LINE_LIMIT) < 0:
            continue
        if _OPTION.search(text, max(0, place.start - _OPTION_LIMIT), place.start + 1):
            continue
        effort.spend(_PRICE_OF_LINE)
        end = find_command_end(text, place.end)
        found = reader.group(data, place.start, end)
        if found is not None:
            yield from _judge_match(text, *found, around, limit=end, effort=effort)
    for place in _LOGIN.finditer(data):
        effort.spend(_PRICE_OF_VALUE)
        cut = place.start + LINE_LIMIT
        found = _LOGGED_IN.group(data, place.start, min(place.end, cut))
        if found is not None:
            yield from _judge_match(text, *found, around, limit=cut, effort=effort)
    for place in _SQL.finditer(data):
        effort.spend(_PRICE_OF_VALUE)
        quote = max(text.rfind(mark, place.start, place.end) for mark in "\"'")
        yield from _judge_match(text, quote + 1, place.end, around, effort=effort)
    for place in _PIPED.finditer(data):
        # A long one is read twice more, and once in Python.
        length = place.end - place.start
        effort.spend(_PRICE_OF_VALUE + length // CHARACTERS_FOR_ONE)
        echoed = _ECHOED.match(text, place.start)
        if echoed is not None:
            yield from _judge_match(text, *echoed.span(1), around, effort=effort)


def _judge_match(
    text: str,
    start: int,
    end: int,
    around: Surroundings,
    *,
    effort: Effort,
    limit: int | None = None,
) -> Iterator[Hit]:
    """`limit` is how far the line was read, if it was not read to its end."""
    value = text[start:end]
    if _PORTS.fullmatch(value) or not is_secret_value(value, _STRONG, style="env"):
        return
    if not around.is_harmless(start, end):
        if end == limit:
            # What tells that it is one was read, and it goes on.
            rest = _REST.get(text[start - 1], _WORD).match(text, end)
            assert rest is not None
            effort.spend((rest.end() - end) // CHARACTERS_FOR_ONE)
            end = rest.end()
        yield Hit(start, end, "password", start)
