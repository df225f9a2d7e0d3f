"""Ids are UUIDv7: in the order of their making, and in one spelling."""

from __future__ import annotations

import pytest
import time_machine

from common.ids import make_code, parse_code, uuid7

CODE = "019a1b2c-3d4e-7f60-8abc-def012345678"


def test_an_id_tells_its_version_and_its_millisecond() -> None:
    with time_machine.travel(1_700_000_000, tick=False):
        made = [uuid7() for _ in range(200)]

    assert {each.int >> 80 for each in made} == {1_700_000_000_000}
    assert {each.version for each in made} == {7}
    assert {each.variant for each in made} == {"specified in RFC 4122"}


def test_all_its_other_bits_are_random() -> None:
    made = [uuid7().int for _ in range(400)]

    assert len(set(made)) == len(made)
    set_once = set_always = made[0]
    for each in made:
        set_once |= each
        set_always &= each
    random = (0xFFF << 64) | ((1 << 62) - 1)
    assert (set_once & random, set_always & random) == (random, 0)


def test_a_later_one_is_greater() -> None:
    made = []
    for at in (1_000_000_000, 1_000_000_000.001, 1_700_000_000, 4_000_000_000):
        with time_machine.travel(at, tick=False):
            made.append(str(uuid7()))
    assert made == sorted(made)


@pytest.mark.parametrize(
    "text",
    [
        CODE.upper(),
        CODE.replace("-", ""),
        f"{{{CODE}}}",
        f"urn:uuid:{CODE}",
        f" {CODE}",
        CODE[:-1],
        f"{CODE}0",
        CODE[:-1] + "x",
        CODE.replace("-", "0"),
        "",
    ],
)
def test_an_id_in_another_spelling_is_none(text: str) -> None:
    assert parse_code(text) is None


def test_an_id_in_its_own_spelling_is_read() -> None:
    assert str(parse_code(CODE)) == CODE


def test_a_code_is_the_text_of_an_id() -> None:
    with time_machine.travel(1_700_000_000, tick=False):
        made = [parse_code(make_code()) for _ in range(200)]

    assert len(set(made)) == len(made)
    assert {each and each.int >> 80 for each in made} == {1_700_000_000_000}
    assert {each and each.version for each in made} == {7}
