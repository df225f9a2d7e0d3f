"""YAML is read strictly, with the place of every value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.yaml_documents import (
    VALUE_LIMIT,
    YamlError,
    parse_yaml,
    write_yaml,
)
from tests.support.examples import examples
from tests.support.rows import each_row

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc-.:#'\" ", max_size=5), inner, max_size=3)
    ),
    max_leaves=15,
)


@examples(400)
@given(st.dictionaries(st.text("abc-.:#'\" 1", max_size=6), VALUES, max_size=4))
def test_what_is_written_is_read_as_it_was(document: dict[str, Any]) -> None:
    assert parse_yaml(write_yaml(document)).document == document


@each_row(
    "text, message, place",
    [
        ("a: &x 1\nb: *x", "anchors and aliases are not taken", (2, 4)),
        ("a: 1\nb: 2\na: 3", "the key a stands twice", (3, 1)),
        ("? [a]\n: 1", "a key has to be a text", (1, 3)),
        (
            "[" + "1," * VALUE_LIMIT + "]",
            f"more than {VALUE_LIMIT:,} keys and values",
            (1, 2 * VALUE_LIMIT),
        ),
        ("[" * 10_000, "more than 32 levels", (1, 33)),
        ("a: 1\n---\nb: 2", "but found another document", (2, 1)),
        ("a: !!binary aGk=", "the tag tag:yaml.org,2002:binary is not taken", (1, 4)),
        ("a:\n  b: " + "9" * 5_000, f"{'9' * 40} is no value", (2, 6)),
        ("a: [1", "did not find expected ',' or ']'", (2, 1)),
    ],
)
def test_what_is_not_one_plain_document_is_refused(
    text: str, message: str, place: tuple[int, int]
) -> None:
    with pytest.raises(YamlError) as refused:
        parse_yaml(text)
    assert (str(refused.value), refused.value.place) == (message, place)


def test_keys_are_texts_and_dates_are_no_dates() -> None:
    read = parse_yaml("on: yes\n1: 2026-11-16\n")
    assert read.document == {"on": True, "1": "2026-11-16"}


def test_as_many_values_as_the_limit_are_taken() -> None:
    texts = "[" + "1," * (VALUE_LIMIT - 1) + "]"
    assert len(parse_yaml(texts).document) == VALUE_LIMIT - 1


def test_an_empty_text_is_an_empty_document() -> None:
    assert parse_yaml("# nothing yet\n").document == {}


def test_what_is_missing_is_looked_for_where_it_would_stand() -> None:
    read = parse_yaml("tools:\n  patterns:\n    - name: a\n")
    assert read.find_place(("tools", "patterns", 0, "name")) == (3, 7)
    assert read.find_place(("tools", "patterns", 0, "message")) == (3, 7)
    assert read.find_place(("tools", "disposable")) == (1, 1)
    assert read.find_place(("gates",)) == (1, 1)
