"""Canonical JSON and digests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import (
    hash_text,
    to_canonical_json,
)
from tests.support.examples import examples

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
)
objects = st.dictionaries(st.text(), values)


def test_key_order_does_not_matter() -> None:
    assert to_canonical_json({"b": {"y": 1, "x": 2}, "a": []}) == to_canonical_json(
        {"a": [], "b": {"x": 2, "y": 1}}
    )


def test_it_is_compact_and_keeps_letters_as_they_are() -> None:
    assert to_canonical_json({"b": [1, 2.5, None, True], "a": "é"}) == (
        '{"a":"é","b":[1,2.5,null,true]}'
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=["nan", "inf"])
def test_what_is_not_json_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_canonical_json({"value": value})


def test_a_digest_is_named_sha256_of_the_utf8_text() -> None:
    assert hash_text("é") == (
        "sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
    )


@examples(500)
@given(values)
def test_it_is_what_the_standard_library_writes(value: object) -> None:
    assert to_canonical_json(value) == json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
