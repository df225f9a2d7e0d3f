"""The quick check never says no to what the full search finds, and says no to plain words."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.secrets.formats import RULES
from guidance.core.secrets.inspection import inspect
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.quick_check import may_hold_secrets
from tests.guidance.core.secrets.bombs import BOMBS
from tests.guidance.core.secrets.borders import BORDERS
from tests.guidance.core.secrets.corpus import FOUND, LET_ALONE
from tests.guidance.core.secrets.samples import body, numbered
from tests.support.examples import examples
from tests.support.rows import each_row

many = examples(4_000)

TOKEN = "gh" + "p_" + body(36)
SECRETS = [form.replace("§", secret) for form, secret in FOUND]
SECRETS += [
    form.replace("§", secret) for _, found in BORDERS.values() for form, secret in found
]
CODED = [base64.b64encode(text.encode()).decode() for text in SECRETS]
HIDDEN = [text[:-4] + "\u200b" + text[-4:] for text in SECRETS] + [
    text[:-4] + "\x00" + text[-4:] for text in SECRETS
]
PLAIN = [
    *("", "bug-fix", "pytest -q tests/parser", "claude-sonnet-4", "3 passed"),
    *("edit:src/app/models.py:save", "Behebt den Fehler in der Prüfung.", "main"),
    "Read the failing test and changed the parser so that empty lines are kept.",
]
# What makes a secret of another text beside it, or of the word after it.
NAMES = [
    *("password", "apiKey", "token", "authorization", "value", "val", "name", "key"),
    *("path", "command", "--password", "-p", "mysql", "curl", "-u", "bob:hunter22"),
    *("docker", "login", "sudo", "-S", "|", "hun" + "ter2", "Bearer", "sshpass"),
    *("DB_PASSWORD", "client_secret", body(24), body(32)),
]

SHORT = [*PLAIN, *NAMES, *NAMES, *SECRETS, *CODED, *HIDDEN]


def get_short(place: int) -> str:
    return SHORT[place]


# By their places: a list of all of them is too long to be printed.
short = st.integers(0, len(SHORT) - 1).map(get_short)
cut = st.builds(
    lambda text, start, size: text[start : start + size],
    *(short, st.integers(0, 30), st.integers(0, 60)),
)
texts = short | cut | st.builds(lambda one, two: one + two, cut, cut) | st.text()
scalars = texts | st.none() | st.booleans() | st.integers() | st.floats()
keys = st.sampled_from(NAMES) | texts
values = st.recursive(
    scalars | st.lists(texts, max_size=5),
    lambda part: (
        st.lists(part, max_size=4)
        | st.tuples(part, part)
        | st.dictionaries(keys, part, max_size=4)
    ),
    max_leaves=8,
)


def assert_nothing_is_lost(value: Any, *, limit: int = LIMIT) -> None:
    if not may_hold_secrets(value, limit=limit):
        found = inspect(value, limit=limit)
        assert not found.leaves
        assert not found.whole


@many
@given(texts)
def test_no_text_with_a_secret_passes_unseen(text: str) -> None:
    assert_nothing_is_lost(text)


@many
@given(values)
def test_no_value_with_a_secret_passes_unseen(value: object) -> None:
    assert_nothing_is_lost(value)


@many
@given(values, st.integers(-10, 400))
def test_what_costs_more_than_is_allowed_is_still_hidden(
    value: object, limit: int
) -> None:
    assert_nothing_is_lost(value, limit=limit)


@many
@given(st.from_regex(r"\A[A-Za-z0-9_./-]{0,13}\Z"))
def test_one_short_word_holds_nothing(word: str) -> None:
    assert_nothing_is_lost(word)


@each_row("text", SECRETS, ids=numbered(SECRETS))
def test_every_secret_of_the_corpus_is_worth_a_search(text: str) -> None:
    coded = base64.b64encode(f"{text} and some more".encode()).decode()
    for each in (text, coded, f"{text[:-1]}\u200b{text[-1:]}"):
        for value in (each, {"a": each}, ["x", each], {"a": [{"b": (1, each)}]}):
            assert_nothing_is_lost(value)
        for end in range(len(each)):
            assert_nothing_is_lost(each[:end])
            assert_nothing_is_lost(each[end:])


def test_the_ends_of_every_sample_are_looked_at() -> None:
    for text in [
        *LET_ALONE,
        *(case for alone, _ in BORDERS.values() for case in alone),
    ]:
        assert_nothing_is_lost(text)
        assert_nothing_is_lost({"a": text})
    for text in BOMBS.values():
        assert_nothing_is_lost(text[:10_000])


def test_no_token_is_as_short_as_a_word_that_is_not_searched() -> None:
    """A telling start and ten more characters, or a whole form, of fifteen at least."""
    telling = [start for rule in RULES if rule.telling for start in rule.starts]
    assert min(map(len, telling)) >= 4


def test_words_of_a_list_are_read_as_a_command() -> None:
    words = ["curl", "-u", "bob:" + "hun" + "ter22", "db.example.org"]
    assert inspect(words).leaves
    assert may_hold_secrets(words)
    assert may_hold_secrets({"argv": [words]})


def test_names_count_for_what_they_name() -> None:
    value = "Tr0ub4" + "dor&3"
    for named in (
        {"password": value},
        {"name": "password", "value": value},
        {"password": {"value": value}},
        ["--password", value],
        [["api_key", body(32)]],
        {"password": 483_920_184},
    ):
        assert inspect(named).leaves, named
        assert may_hold_secrets(named), named
    assert not may_hold_secrets({"comment": value})


@each_row("text", PLAIN, ids=numbered(PLAIN))
def test_ordinary_words_are_not_searched(text: str) -> None:
    assert not may_hold_secrets(text)
    assert not may_hold_secrets({"path": text, "lines": [1, 2.5, None, True, text]})


def test_what_it_cannot_read_it_leaves_to_the_search() -> None:
    deep: list[Any] = [TOKEN]
    for _ in range(50):
        deep = [deep]

    class Word(str):
        __slots__ = ()

    for value in (deep, Word(TOKEN), {1: TOKEN}, {"a": Word("plain words")}):
        assert may_hold_secrets(value)
    assert may_hold_secrets("plain words " * 2_000)
    assert may_hold_secrets(["plain"] * 10_000)
