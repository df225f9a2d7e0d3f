"""No text makes a rule slow: bounded programs, bounded tries, and never an error.

A search on RE2 costs at most the size of its program for each character, and so many
places are looked at one by one; both numbers are held here. `measure.py` beside this
file prints what that comes to.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.effort import Effort
from guidance.core.regex import BytePattern
from guidance.core.secrets import placeholders, redact_text, surroundings
from guidance.core.secrets import (
    scan as scanning,
)
from guidance.core.secrets.hits import HIT_LIMIT, Hit
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.scan import scan
from guidance.core.secrets.scanners import (
    addresses,
    assignments,
    flags,
    headers,
    hidden,
    key_blocks,
    secret_commands,
    tokens,
)
from tests.guidance.core.secrets.bombs import BOMBS
from tests.guidance.core.secrets.corpus import FOUND
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(200)

MODULES = (
    addresses,
    assignments,
    placeholders,
    flags,
    headers,
    hidden,
    key_blocks,
    scanning,
    secret_commands,
    surroundings,
    tokens,
)
PATTERNS = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", pattern)
    for module in MODULES
    for name, pattern in vars(module).items()
    if isinstance(pattern, BytePattern)
]


@each_row(("name", "pattern"), PATTERNS, ids=[n for n, _ in PATTERNS])
def test_a_rule_is_a_program_of_bounded_size(name: str, pattern: BytePattern) -> None:
    assert pattern.size < 8_000


def test_the_rules_that_read_every_text_are_those_patterns() -> None:
    assert len(PATTERNS) >= 12


def test_a_warm_up_is_within_what_is_looked_at_and_comes_to_its_last_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that starts calls it: were it too much, no server would start."""
    read: list[int] = []

    def last_rule(data: bytes, _effort: Effort) -> list[Hit]:
        read.append(len(data))
        return []

    monkeypatch.setattr(scanning, "scan_cut_tokens", last_rule)

    scanning.warm_up()

    assert read[0] == 3 * scanning._DRAWN


@each_row("name", BOMBS)
def test_a_bomb_ends_in_few_findings(name: str) -> None:
    """More places than anybody reads are hidden as one: the whole text."""
    text = BOMBS[name]
    done = redact_text(text, fingerprint_key=b"k")
    spans = [found.span for found in done.findings]
    assert len(spans) <= HIT_LIMIT
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    if "unread-rest" in [found.kind for found in done.findings]:
        assert len(done.text) < len(text)


def test_what_comes_after_too_many_secrets_is_hidden_with_them() -> None:
    text = "".join(f"password=Zx81{n}\n" for n in range(3_000)) + "last=words"
    done = redact_text(text, fingerprint_key=b"k")
    assert len(done.findings) <= HIT_LIMIT
    assert done.findings[-1].kind == "unread-rest"
    assert "last=words" not in done.text


ODD = st.sampled_from(
    [
        *(
            "password",
            "=",
            ":",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            "-",
            "--",
            "://",
            "@",
            "Bearer",
        ),
        *("gh" + "p_", "eyJ", "s" + "k-", "AKIA", "-----BEGIN ", "PRIVATE KEY-----"),
        *("{", "}", "$", "mysql ", "-p", "a1B2c3D4e5", "\0", "\ud800", "\u200b", "é"),
        *(".", "`", "<", "echo ", "| sudo -S", "token", "%20", "\\n", "+"),
    ]
)


@steadily
@given(text=st.lists(ODD, max_size=30).map("".join))
def test_no_text_raises_and_every_place_lies_in_it(text: str) -> None:
    hits = scan(text, Effort(LIMIT))
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)
    assert all(one.end <= two.start for one, two in pairwise(hits))
    redact_text(text, fingerprint_key=b"k")


def hits_without_passing_over(text: str) -> list[Hit]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_is_suspicious", lambda data: True)
        return list(scan(text, Effort(LIMIT)))


@steadily
@given(text=st.lists(ODD, max_size=30).map("".join))
def test_what_is_passed_over_at_once_holds_nothing(text: str) -> None:
    assert list(scan(text, Effort(LIMIT))) == hits_without_passing_over(text)


def test_no_secret_that_is_known_is_passed_over() -> None:
    for form, secret in FOUND:
        text = form.replace("§", secret)
        assert list(scan(text, Effort(LIMIT))) == hits_without_passing_over(text), form


@steadily
@given(text=st.text(max_size=200))
def test_the_same_text_always_comes_out_the_same(text: str) -> None:
    assert list(scan(text, Effort(LIMIT))) == list(scan(text, Effort(LIMIT)))
