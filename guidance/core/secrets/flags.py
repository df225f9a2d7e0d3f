"""Passwords on command lines and in SQL, where no name stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.arguments.patterns import byte_pattern
from guidance.core.secrets.hits import HIT_LIMIT, REST, Hit
from guidance.core.secrets.names import Promise
from guidance.core.secrets.values import is_secret_value

_LINE_LIMIT = 1_000
_STRONG = Promise("password", strong=True)

_VALUE = r"(?:\"(?P<double>[^\"\n]+)|'(?P<single>[^'\n]+)|(?P<plain>[^\s\"'][^\s\"']*))"
_USER = rf"\s(?:-u|-U|--user|--proxy-user|--auth|-a)(?:\s*|=)[\"']?[^\s:\"'$-][^\s:\"']*:{_VALUE}"
_MYSQL = rf"\s-p(?=[^\s-]){_VALUE}"

# The command, what its line holds at least, and how it holds a password.
_COMMANDS = {
    "mysql": ("-p", _MYSQL),
    "mysqldump": ("-p", _MYSQL),
    "mysqladmin": ("-p", _MYSQL),
    "mariadb": ("-p", _MYSQL),
    "mariadb-dump": ("-p", _MYSQL),
    "sshpass": ("-p", rf"\s-p\s*{_VALUE}"),
    "redis-cli": ("-a", rf"\s-a\s+{_VALUE}"),
    "docker": ("login", rf"login(?<=\slogin)\s(?:[^|;&\n]*\s)?-p\s*{_VALUE}"),
    "podman": ("login", rf"login(?<=\slogin)\s(?:[^|;&\n]*\s)?-p\s*{_VALUE}"),
    "7z": ("-p", rf"\s-p(?=\S){_VALUE}"),
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
    "net": ("user", rf"(?<=net)\s+user\s+[^\s/]+\s+{_VALUE}"),
}
_READERS = {name: (sign, re.compile(form)) for name, (sign, form) in _COMMANDS.items()}
_NAMED = byte_pattern(
    r"(?:^|[\s;&|(/\"'`])(?:"
    + "|".join(map(re.escape, _COMMANDS))
    + r")(?:\.exe)?[ \t]"
)
_SQL = byte_pattern(
    r"identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\"'][^\"'\n]+",
    ignore_case=True,
)
_PIPED = byte_pattern(
    r"echo[ \t]+(?:-n[ \t]+)?[\"']?[^ \t\n|]+[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S"
    r"|[^\n|]*--password-stdin|[^\n|]*--with-token|(?:sudo[ \t]+)?chpasswd)"
)
_ECHOED = re.compile(r"echo[ \t]+(?:-n[ \t]+)?[\"']?(?:[\w.-]+:)?([^ \t\n|\"']+)")


def flags(text: str, data: bytes) -> Iterator[Hit]:
    """Every password that a known command or statement is given."""
    tried = 0
    for place in _NAMED.finditer(data):
        name = (
            text[place.start : place.end].strip(" \t\n\r;&|(/\"'`").removesuffix(".exe")
        )
        line = text.find("\n", place.end, place.end + _LINE_LIMIT)
        end = line if line >= 0 else min(len(text), place.end + _LINE_LIMIT)
        sign, reader = _READERS[name]
        if text.find(sign, place.end, end) < 0:
            continue
        if tried == 2 * HIT_LIMIT:
            yield Hit(place.start, len(text), REST, place.start)
            return
        tried += 1
        found = reader.search(text, place.end - 1, end)
        if found is not None:
            yield from _judged(text, *found.span(found.lastgroup or 0))
    for place in _SQL.finditer(data):
        quote = max(text.rfind(mark, place.start, place.end) for mark in "\"'")
        yield from _judged(text, quote + 1, place.end)
    for place in _PIPED.finditer(data):
        echoed = _ECHOED.match(text, place.start)
        if echoed is not None:
            yield from _judged(text, *echoed.span(1))


def _judged(text: str, start: int, end: int) -> Iterator[Hit]:
    value = text[start:end]
    numbers = value.isdigit() and len(value) < 6
    if not numbers and is_secret_value(value, _STRONG, style="env"):
        yield Hit(start, end, "password", start)
