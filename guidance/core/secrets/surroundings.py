"""What stands around a value: whose password it is, where it is used, and whether in a test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from guidance.core.effort import Effort
from guidance.core.regex import compile_byte_pattern
from guidance.core.secrets.defaults import is_default, repeats_its_name
from guidance.core.secrets.limits import CHARACTERS_FOR_ONE
from guidance.core.secrets.vocabulary import HOST_NAMES, OWNER_NAMES
from guidance.core.secrets.words import (
    is_made_of_words,
    is_sequence,
    is_word_with_signs,
    split_words,
)

# So far around a value its user and its host are looked for.
_NEAR = 400
_PRICE = 80
# Nobody makes a default longer than that.
_LONGEST = 128
_MOST_NEIGHBOURS = 50

_FOLDERS = (
    "tests?|specs?|__tests__|testdata|test-data|fixtures?|cypress|e2e"
    "|locales?|i18n|l10n|translations?|lang"
)
_FILES = (
    r"test_[\w.-]+|[\w.-]+[_.-](?:test|tests|spec|fixture|fixtures)\.\w+|conftest\.py"
)
_TEST_PATH = rf"(?:[\w./-]*/)?(?:(?:{_FOLDERS})/[\w./-]*|{_FILES})"
_IN_TESTS = re.compile(rf"(?i){_TEST_PATH}")
# A file of tests that is written, or what only tests say.
_TESTS = compile_byte_pattern(
    rf"(?:>|\btee)[ \t]*[\"']?{_TEST_PATH}"
    r"|(?:^|[\n \t;(.])(?:def test_\w|class Test\w|func Test[A-Z]\w*\(|RSpec\.describe"
    r"|(?:describe|context|it|test)(?:\([ \t]*| )[\"'`]|@Test\b|#\[test\]|expect\()"
)
_OWNER = re.compile(
    r"(?i)(?:(?:user(?:_?name|\s+if\s+not\s+exists)?|login|account|database|dbname|_db|_name|uid|\s-d)"
    r"[\"']?\s{0,4}(?:[:=]|=>|,|\s)\s{0,4}[\"']?|\s-u\s?)([A-Za-z][\w.-]{1,40})"
)
# Another command begins: the host of that one is not this one's.
_BREAK = re.compile(r"&&|\|\||[;|&]\s|(?<!\\)\n")
_HOST = re.compile(
    r"(?i)(?:://(?:[^\s/@\"']*@)?|\s(?:-h|--host(?:name)?|--server|--url|--endpoint)"
    r"(?:=|\s*)[\"']?|(?:host|hostname|server|address|endpoint)\s?[=:]\s?[\"']?)"
    r"([A-Za-z0-9.-]+)"
)
_LOCAL = re.compile(
    r"(?i)[^.]*|127(?:\.\d+)*|0\.0\.0\.0|host\.docker\.internal"
    r"|.*\.(?:local|localhost|localdomain|test|svc)\.?"
)
_RESERVED = re.compile(r"(?i)(?:.*\.)?example(?:\.(?:com|org|net))?|.*\.invalid")
_ACCOUNT = re.compile(r"(?i)[\w.+-]@(?:[\w-]+\.)*(?:example(?:\.\w+)?|test|invalid)\b")


def is_local_host(host: str) -> bool:
    """One's own machine, or a name without a dot as containers have it."""
    return _LOCAL.fullmatch(host) is not None


def is_test_path(path: str) -> bool:
    """A file of tests or of translations: words in it are nobody's passwords."""
    return _IN_TESTS.fullmatch(path) is not None


def _is_remote(host: str) -> bool:
    return not is_local_host(host) and _RESERVED.fullmatch(host) is None


class Surroundings:
    """One text and what is known of it. `strict` lets nothing in it speak for a value."""

    def __init__(
        self,
        text: str,
        data: bytes,
        effort: Effort,
        *,
        in_tests: bool = False,
        strict: bool = False,
    ) -> None:
        self._text = text
        self._data = data
        self._effort = effort
        self._strict = strict
        self._in_tests = True if in_tests else None

    @property
    def in_tests(self) -> bool:
        """Asked seldom, and then once."""
        if self._in_tests is None:
            self._effort.spend(len(self._data) // CHARACTERS_FOR_ONE)
            self._in_tests = _TESTS.search(self._data) is not None
        return self._in_tests

    def is_harmless(self, start: int, end: int, *, name: str = "") -> bool:
        """The value there guards nothing: a default, a user's own name, a test's."""
        if self._strict or end - start > _LONGEST:
            return False
        value = self._text[start:end]
        known = is_default(value) or repeats_its_name(value, name)
        plain = is_made_of_words(value) or is_word_with_signs(value)
        if not (known or plain or is_sequence(value)):
            return False
        self._effort.spend(_PRICE)
        before = self._text[max(0, start - _NEAR) : start]
        after = self._text[end : end + _NEAR]
        line = _cut_command(before, after)
        if any(_is_remote(host[1]) for host in _HOST.finditer(line)):
            return False
        if known or (plain and _has_owner(before, after, value)):
            return True
        if plain and _ACCOUNT.search(line):
            return True
        return self.in_tests


def _cut_command(before: str, after: str) -> str:
    """What of the text before and after a value is in the same command."""
    breaks = [place.end() for place in _BREAK.finditer(before)]
    begin = breaks[-1] if breaks else 0
    stop = _BREAK.search(after)
    return f"{before[begin:]} {after[: stop.start() if stop else len(after)]}"


def _has_owner(before: str, after: str, value: str) -> bool:
    """The same value stands close by as the name of a user or a database."""
    return any(
        value in part and any(owner[1] == value for owner in _OWNER.finditer(part))
        for part in (before, after)
    )


class Neighbours(NamedTuple):
    """What stands beside a value in its object: users, a host, an account."""

    owners: frozenset[str] = frozenset()
    remote: bool = False
    account: bool = False


def read_neighbours(pairs: Iterable[tuple[str, str]]) -> Neighbours:
    owners, remote, account = set(), False, False
    for name, text in islice(pairs, _MOST_NEIGHBOURS):
        last, said = (split_words(name[-_LONGEST:]) or [""])[-1], text[:_LONGEST]
        if last in OWNER_NAMES:
            owners.add(said)
        elif last in HOST_NAMES:
            host = said.rpartition("://")[2].rpartition("@")[2].partition("/")[0]
            remote = remote or _is_remote(host.partition(":")[0])
        account = account or _ACCOUNT.search(said) is not None
    return Neighbours(frozenset(owners), remote, account)


def is_harmless_under(
    value: str, name: str, beside: Neighbours, *, in_tests: bool
) -> bool:
    """The same for a value under a key."""
    if beside.remote or len(value) > _LONGEST:
        return False
    if is_default(value) or repeats_its_name(value, name):
        return True
    if name.lower() == "pwd" and value.isalpha():
        # The working directory.
        return True
    if value in beside.owners and is_made_of_words(value):
        return True
    if is_word_with_signs(value):
        return beside.account or in_tests
    return in_tests and is_sequence(value)
