"""The value behind a name: where it begins and ends, and whether it is a secret."""

from __future__ import annotations

import re
from typing import NamedTuple

from guidance.core.regex import Span
from guidance.core.secrets.labels import find_label_end
from guidance.core.secrets.names import Promise
from guidance.core.secrets.values import Style, is_secret_value

# So far a value is read before it is judged; only a secret is followed to its end.
VALUE_LIMIT = 1_024
# As far back as it is asked whether a place stands inside quotes.
_LINE_LIMIT = 512
_SHORT_NAME = 20

_LINE_START = re.compile(
    r"[ \t]*(?:(?:export|set|setx|declare|local|env|ENV|-)[ \t]+)*"
)
_BARE_END = re.compile(r"[\s\"'`,;&|<>(){}\[\]]")
# In name=value;name=value other signs belong to the value.
_LISTED_END = re.compile(r"[\s\"';]")
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"\n")
_PREFIXED = re.compile(r"(?i)(?:[fbru]{1,2}|[@$]{1,2})(?=[\"'])")
_NEVER_FIRST = frozenset(" \t,;)}]+:<")
_NEVER_BARE = _NEVER_FIRST | frozenset("-=[{(")
_SETTING = re.compile(
    r"(?i)(?:#define|with|set|enable|encrypted|(?:user|role|login)\s+\S+)\s+$"
)
_LEAD_LIMIT = 60
_CLOSERS = ";,)]}:"


class Place(NamedTuple):
    """A name, and where its value begins.

    `sign` is what stands between them: the sign itself (= or : with its spaces), or
    how it was read: typed, pair, block, tag, comma, call. `closed` is the quote or
    bracket behind the name.
    """

    name: int
    name_end: int
    value: int
    sign: str
    closed: str


def find_assigned_value(text: str, place: Place, promised: Promise) -> Span | None:
    """Where the secret stands, None if the value is none."""
    if place.sign == "tag" and text[place.name - 1 : place.name] != "<":
        return None
    if place.sign == "call" and not promised.strong:
        return None
    if place.sign[:1] == ":" and text[place.name - 1 : place.name] == "$":
        # A variable in a sentence: "cannot open $pwd: …".
        return None
    if place.sign == "comma" or (place.sign == "call" and not _is_setting(text, place)):
        # A list of names or a sentence looks the same: only a random value is taken
        # for a secret.
        promised = promised._replace(strong=False)
    prefix = _PREFIXED.match(text, place.value)
    start = prefix.end() if prefix else place.value
    opening = text[start : start + 1]
    if opening == "\\" and text[start + 1 : start + 2] in ('"', "'"):
        return _find_quoted(
            text, start + 2, quote=text[start : start + 2], promised=promised
        )
    if opening in ('"', "'", "`") and opening:
        if not place.closed and _is_inside(text, place.name, opening):
            return None
        quote = opening * 3 if text.startswith(opening * 3, start) else opening
        span = _find_quoted(text, start + len(quote), quote=quote, promised=promised)
        filled = prefix is not None and span is not None and "{" in text[slice(*span)]
        return None if filled else span
    return _find_bare(text, place, promised)


def _is_setting(text: str, place: Place) -> bool:
    """f("x"), #define NAME "x", with password 'x', the password is 'x'."""
    between = text[place.name_end : place.value]
    if (
        "(" in between
        or " is" in between
        or text[place.name : place.name_end].isupper()
    ):
        return True
    before = text[max(0, place.name - _LEAD_LIMIT) : place.name]
    return _SETTING.search(before) is not None


def _find_quoted(
    text: str, start: int, *, quote: str, promised: Promise
) -> Span | None:
    limit = min(len(text), start + VALUE_LIMIT)
    if quote != "`" and len(quote) < 3:
        limit = _find_end(_LINE_END, text, start, limit)
    end = text.find(quote, start, limit)
    while end > start and len(quote) == 1 and text[end - 1] == "\\":
        end = text.find(quote, end + 1, limit)
    if end < 0:
        end = limit
    value = text[start:end]
    if value[:1] in _NEVER_FIRST or not is_secret_value(value, promised):
        return None
    return Span(
        start, _find_end(_LINE_END, text, end, len(text)) if end == limit else end
    )


def _find_bare(text: str, place: Place, promised: Promise) -> Span | None:
    start = place.value
    written = find_label_end(text, start)
    if written is not None and _BARE_END.match(text[written : written + 1] or " "):
        return None
    begun = _LINE_START.match(text, _find_line_start(text, place.name))
    leads = begun is not None and begun.end() >= place.name and place.sign != "tag"
    limit = min(len(text), start + VALUE_LIMIT)
    stops = _SPACE if leads else _BARE_END
    if text[place.name - 1 : place.name] == ";":
        stops = _LISTED_END
    end = _find_end(stops, text, start, limit)
    style: Style = "env" if _is_env(text, place) else "bare"
    while end > start and text[end - 1] in (_CLOSERS if style == "bare" else ";"):
        end -= 1
    value = text[start:end]
    if (
        value[:1] in _NEVER_BARE
        or _is_empty_pair(value)
        or not _is_whole(text, end, place)
    ):
        return None
    if place.sign == "tag" and not text.startswith("</", end):
        return None
    if style == "bare" and value.isalpha() and _is_prose(text, end, place):
        return None
    if value.isalpha() and text[place.name : place.name_end] == "pwd":
        # The working directory.
        return None
    if not is_secret_value(value, promised, style=style):
        return None
    return Span(start, _find_end(stops, text, end, len(text)) if end == limit else end)


def _is_empty_pair(value: str) -> bool:
    """password= name=, as completions list them."""
    return value[-1:] == "=" and value[:-1].isalpha() and len(value) < _SHORT_NAME


def _is_prose(text: str, end: int, place: Place) -> bool:
    """A plain word: what a call is given, or what is said about an option."""
    option = place.sign == " " and text[place.name : place.name + 1] == "-"
    return option or text[end : end + 1] in (",", ")", "(")


def _find_end(stops: re.Pattern[str], text: str, start: int, limit: int) -> int:
    stop = stops.search(text, start, limit)
    return stop.start() if stop else limit


def _is_env(text: str, place: Place) -> bool:
    """NAME=value or --name=value: a shell takes the value as it stands."""
    name = text[place.name : place.name_end]
    return place.sign == "=" and (name.isupper() or name.startswith("--"))


def _is_whole(text: str, end: int, place: Place) -> bool:
    """Behind a colon, a value that more words follow is the beginning of a sentence."""
    if ":" not in place.sign and place.sign != " = ":
        return True
    if text[end : end + 1] in ('"', "'", "`"):
        return True
    rest = text[end : end + 80].split("\n", 1)[0].strip(" \t;,}])\"'`\r")
    return not rest or rest.startswith(("#", "//", "<", "&", "\\n", "--"))


def _is_inside(text: str, place: int, quote: str) -> bool:
    """The place stands in a text that this quote closes, as in "Password: "."""
    return text.count(quote, _find_line_start(text, place), place) % 2 == 1


def _find_line_start(text: str, place: int) -> int:
    least = max(0, place - _LINE_LIMIT)
    return max(least, text.rfind("\n", least, place) + 1)
