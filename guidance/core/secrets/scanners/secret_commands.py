"""What commands are given to keep as a secret: of that the command itself says it is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import compile_byte_pattern
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.names import Promise, read_promise
from guidance.core.secrets.scanners.command_line import find_command_end
from guidance.core.secrets.surroundings import Surroundings
from guidance.core.secrets.values import is_secret_value

_PRICE = 60
_STRONG = Promise("secret", strong=True)
_WEAK = Promise("secret", strong=False, by_uuid=True)

_PAIRS = "create[ \t]+secret|(?:vault|bao)[ \t]+kv[ \t]+(?:put|patch)|secrets[ \t]+set"
_VALUES = (
    "secret[ \t]+set|secretsmanager[ \t]+(?:create|put|update)-secret|put-parameter"
    "|add-(?:generic|internet)-password"
)
MAKES_SECRET = compile_byte_pattern(f"{_PAIRS}|{_VALUES}")
_IS_PAIRED = re.compile(_PAIRS)
_VALUE = r"(?:\"([^\"\n]+)|'([^'\n]+)|([^\s\"']+))"
_PAIR = re.compile(
    r"(?:\s--from-literal(?:=|\s+)|\s(?!-))([\"']?)([A-Za-z_][\w./-]*)=(?!=)"
    rf"(?:(?<=[\"'])([^\"'\n]+)|{_VALUE})"
)
_CONNECTION = re.compile(r"[^;=\s]*;[\w ]+(?:=|\Z)")
_GIVEN = re.compile(rf"\s(?:--body|-b|--secret-string|--value|-w)(?:=|\s*){_VALUE}")


def scan_secret_commands(
    text: str, data: bytes, effort: Effort, around: Surroundings
) -> Iterator[Hit]:
    for place in MAKES_SECRET.finditer(data):
        effort.spend(_PRICE)
        end = find_command_end(text, place.start)
        if _IS_PAIRED.match(text, place.start):
            yield from _scan_pairs(text, place.end, end, around)
        elif "put-parameter" not in text[place.start : place.end] or (
            "SecureString" in text[place.end : end]
        ):
            for found in _GIVEN.finditer(text, place.end, end):
                group = found.lastindex or 0
                if is_secret_value(found[group], _STRONG, style="env"):
                    yield Hit(*found.span(group), "secret", found.start(group))


def _scan_pairs(text: str, start: int, end: int, around: Surroundings) -> Iterator[Hit]:
    """A name that promises nothing needs a value that looks random."""
    for found in _PAIR.finditer(text, start, end):
        group = found.lastindex or 0
        if _CONNECTION.match(found[group]):
            # Its password has a name of its own.
            continue
        promised = read_promise(found[2]) or _WEAK
        if is_secret_value(
            found[group], promised, style="env"
        ) and not around.is_harmless(*found.span(group), name=found[2]):
            yield Hit(*found.span(group), "secret", found.start(group))
