"""A document of any shape is refused soon: what is said of it has a bound."""

from __future__ import annotations

import tracemalloc
from time import process_time
from typing import Any

import pytest

from guidance.core.document_reader import PROBLEM_LIMIT
from guidance.validation import (
    KEY_LIMIT,
    Checked,
    check_document,
    check_yaml,
    split_path,
)
from guidance.yaml_documents import VALUE_LIMIT
from reviews.policies.schemas import TEXT_LIMIT

# A check that grows with the square takes minutes, and gigabytes.
SECONDS = 10
BYTES = 100 << 20


def fill(line: str) -> str:
    """As many lines as a policy may have."""
    return "\n".join(line.format(number) for number in range(VALUE_LIMIT // 2 - 10))


def give_name(length: int) -> str:
    return "n" * length


TEXTS = {
    "unknown keys": fill("k{}: 1"),
    "unknown keys in a part": "caps:\n" + fill("  k{}: 1"),
    "rules of the wrong kind": "tools:\n  rules:\n" + fill("    r{}: 1"),
    "a key with many dots": "." + "a." * (TEXT_LIMIT // 2 - 10) + ": 1",
    "a long list": "caps: [" + "1," * (VALUE_LIMIT - 10) + "]",
    "a long name above a list": f"{give_name(TEXT_LIMIT // 2)}: ["
    + "1," * (VALUE_LIMIT - 10)
    + "]",
    "a long name of a gate": f"gates:\n  {give_name(TEXT_LIMIT // 2)}:\n"
    + fill("    k{}: 1"),
}


@pytest.mark.parametrize("shape", TEXTS)
def test_a_check_of_any_shape_ends_soon(shape: str) -> None:
    begun = process_time()
    checked = check_yaml(TEXTS[shape])
    assert process_time() - begun < SECONDS
    assert checked.faults
    assert len(checked.faults) <= PROBLEM_LIMIT + 1
    assert all(len(fault.message) < 500 for fault in checked.faults)


def test_nor_has_json_as_many_keys_as_it_likes() -> None:
    begun = process_time()
    checked = check_document({f"k{n}": 1 for n in range(100_000)})
    assert process_time() - begun < SECONDS
    assert len(checked.faults) == PROBLEM_LIMIT + 1


@pytest.mark.parametrize("shape", [shape for shape in TEXTS if "long name" in shape])
def test_a_long_name_is_not_repeated_for_all_that_is_below(shape: str) -> None:
    tracemalloc.start()
    try:
        check_yaml(TEXTS[shape])
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()


def list_messages(checked: Checked) -> list[str]:
    return [fault.message for fault in checked.faults]


def test_so_many_problems_are_named_and_then_no_more() -> None:
    def check(count: int) -> list[str]:
        return list_messages(check_document({f"k{n}": 1 for n in range(count)}))

    assert check(PROBLEM_LIMIT) == ["unknown key"] * PROBLEM_LIMIT
    *named, last = check(PROBLEM_LIMIT + 1)
    assert named == ["unknown key"] * PROBLEM_LIMIT
    assert "there is more" in last


def test_problems_of_every_reader_count_together() -> None:
    half = {f"k{n}": 1 for n in range(PROBLEM_LIMIT // 2)}
    document = {"caps": half, "limits": half, "runs": half}
    assert len(check_document(document).faults) == PROBLEM_LIMIT + 1


def test_a_key_has_a_longest_length() -> None:
    def check(length: int) -> list[Any]:
        (fault,) = check_document({"caps": {give_name(length): 1}}).faults
        return [fault.loc, fault.message]

    assert check(KEY_LIMIT) == [("caps", give_name(KEY_LIMIT)), "unknown key"]
    assert check(KEY_LIMIT + 1)[0] == ("caps",)
    assert f"{KEY_LIMIT:,}" in check(KEY_LIMIT + 1)[1]
    in_list = {"tools": {"patterns": [{}, {give_name(KEY_LIMIT + 1): 1}]}}
    (fault,) = check_document(in_list).faults
    assert fault.loc == ("tools", "patterns", 1)


def test_a_long_key_is_told_with_its_line() -> None:
    (fault,) = check_yaml(f"caps:\n  {give_name(KEY_LIMIT + 1)}: 1").faults
    assert fault.loc == ("caps",)
    assert fault.place == (1, 1)


def test_keys_with_dots_are_told_whole_the_longest_first() -> None:
    document = {"tools": {"rules": {"a": 1, "a.b": {"c": 1}}, "a.b": 1}}
    locs = {fault.loc for fault in check_document(document).faults}
    assert ("tools", "a.b") in locs
    assert ("tools", "rules", "a.b") in locs or ("tools", "rules", "a.b", "c") in locs


def test_a_path_ends_where_the_document_has_no_more_keys() -> None:
    assert split_path("a.b.c", {"a": 1}) == ("a", "b", "c")
    assert split_path("a.1.b", {"a": [0]}) == ("a", 1, "b")


def test_a_zone_that_there_is_not_is_named() -> None:
    for zone, places in (("Europe/Berlin", []), ("Europe/Nowhere", ["zone"])):
        document = {"reviews": {"working_hours": {"zone": zone}}}
        faults = check_document(document).faults
        assert [fault.loc[-1] for fault in faults] == places
