"""Canonical JSON and digests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import (
    KeptObject,
    hash_text,
    join_fields,
    to_canonical_json,
)
from guidance.core.jcs import to_jcs
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


@examples(500)
@given(objects, objects)
def test_an_object_that_keeps_its_texts_is_written_the_same(
    outer: dict[str, object], inner: dict[str, object]
) -> None:
    kept = KeptObject({**outer, "verdict": KeptObject(inner)})
    assert kept.write() == to_jcs({**outer, "verdict": inner})
    assert kept.write() == to_jcs(kept)
    assert kept["verdict"].write_fields() == {
        name: to_jcs(part) for name, part in inner.items()
    }


@examples(500)
@given(objects)
def test_fields_are_joined_in_their_order(value: dict[str, object]) -> None:
    texts = [(name, to_canonical_json(part)) for name, part in value.items()]
    assert json.loads(join_fields(texts)) == value
    assert list(json.loads(join_fields(texts))) == list(value)


def test_what_is_no_number_is_refused_in_an_object_that_keeps_its_texts() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        KeptObject({"value": float("nan")}).write()
