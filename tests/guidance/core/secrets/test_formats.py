"""Public token formats: each is found by its own form, wherever it stands."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from guidance.core.effort import Effort
from guidance.core.secrets.formats import KINDS, RULES
from guidance.core.secrets.formats.rule import TokenRule
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.scan import scan
from tests.guidance.core.secrets.samples import TOKENS, body, numbered
from tests.support.rows import each_row

steadily = settings(derandomize=True, max_examples=5)

# A signed token is also asked whether its second part is JSON.
FORMS = [rule for rule in RULES if rule.kind != "jwt"]
SURROUNDINGS = (
    "{}",
    "x={}",
    "say {} now",
    '"{}"',
    "'{}',",
    "\n{}\n",
    "a\\n{}",
    "q=%20{}",
    "<b>{}</b>",
    "https://{}@host/",
    "схема: {}…",
)


def covered(text: str) -> set[int]:
    return {at for hit in scan(text, Effort(LIMIT)) for at in range(hit.start, hit.end)}


def test_there_are_more_than_a_hundred_kinds_and_samples_of_most() -> None:
    assert len(KINDS) > 100
    assert len({kind for kind, _ in TOKENS}) > 75
    assert {kind for kind, _ in TOKENS} <= KINDS


@each_row(("kind", "token"), TOKENS, ids=numbered(kind for kind, _ in TOKENS))
def test_a_token_is_found_whole_and_named_wherever_it_stands(
    kind: str, token: str
) -> None:
    for surrounding in SURROUNDINGS:
        text = surrounding.replace("{}", token)
        found = [
            (hit.kind, text[hit.start : hit.end]) for hit in scan(text, Effort(LIMIT))
        ]
        assert (kind, token) in found, surrounding


@each_row(("kind", "token"), TOKENS, ids=numbered(kind for kind, _ in TOKENS))
def test_the_public_start_is_not_taken_for_part_of_the_secret(
    kind: str, token: str
) -> None:
    (hit,) = scan(token, Effort(LIMIT))
    starts = [start for rule in RULES if rule.kind == kind for start in rule.starts]
    assert token[: hit.core] in [*starts, ""]


@each_row("rule", FORMS, ids=numbered(rule.kind for rule in FORMS))
def test_whatever_has_the_form_of_a_rule_is_found(rule: TokenRule) -> None:
    @steadily
    @given(rest=st.from_regex(re.compile(rule.rest, re.ASCII), fullmatch=True))
    def check(rest: str) -> None:
        # A part that stays the same would be taken for a placeholder.
        text = rest + body(max(0, rule.least - len(rest)), "0123456789")
        alike = any(len(set(part)) < 8 for part in text.split(".") if len(part) > 12)
        if alike or len(set(text)) < 8:
            return
        if rule.most is not None and len(text) > rule.most:
            return
        for start in rule.starts or ("",):
            assert covered(start + text), start + text

    check()


@each_row(("kind", "token"), TOKENS, ids=numbered(kind for kind, _ in TOKENS))
def test_a_token_inside_a_longer_word_is_not_one(kind: str, token: str) -> None:
    found = {hit.kind for hit in scan(f"x{token}", Effort(LIMIT))}
    # What needs no start of its own may begin a character later.
    without_start = {rule.kind for rule in RULES if not rule.starts}
    assert kind not in found or kind in without_start


def test_a_placeholder_in_the_form_of_a_token_is_none() -> None:
    for rule in RULES:
        for start in rule.starts:
            assert not scan(start + "x" * 40, Effort(LIMIT)), start


def test_the_longest_known_start_gives_the_name() -> None:
    text = "s" + "k-ant-" + body(40)
    assert [hit.kind for hit in scan(text, Effort(LIMIT))] == ["anthropic-key"]
